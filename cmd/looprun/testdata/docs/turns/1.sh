sed -i 's/"VIIII"/"IX"/' roman.go
