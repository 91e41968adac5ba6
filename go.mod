module github.com/foldql/foldql

go 1.26.0
