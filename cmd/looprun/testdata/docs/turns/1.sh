sed 's/"VIIII"/"IX"/' roman.go >fixed && mv fixed roman.go
