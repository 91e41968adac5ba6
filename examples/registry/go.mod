module example.com/registry

go 1.26.0

require github.com/foldql/foldql v0.0.0

replace github.com/foldql/foldql => ../..
