sed 's/n < 0 ||/n < 1 ||/' roman.go >fixed && mv fixed roman.go
