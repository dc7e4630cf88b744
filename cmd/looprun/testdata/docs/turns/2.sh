sed -i 's/n < 0 ||/n < 1 ||/' roman.go
