package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/event"
	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
)

// Equipment keeps what departments work with.
type Equipment struct{}

// EquipmentBought adds it to a department.
func (Equipment) EquipmentBought(e event.EquipmentBought, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Equipment.Set(model.Equipment{
		EquipmentID: e.EquipmentID, Department: e.Department, Name: e.Name, PurchaseDate: e.PurchaseDate,
	})}
}

// EquipmentMoved gives it to another department.
func (Equipment) EquipmentMoved(e event.EquipmentMoved, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Equipment.Update(e.EquipmentID, func(r *model.Equipment) { r.Department = e.Department })}
}

// EquipmentRetired removes it.
func (Equipment) EquipmentRetired(e event.EquipmentRetired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Equipment.Delete(e.EquipmentID)}
}
