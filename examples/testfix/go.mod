module example.com/testfix

go 1.21
