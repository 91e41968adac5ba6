package tenants_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
	"example.com/tenants/projection/tenants"
)

func TestEquipmentIsInOneDepartment(t *testing.T) {
	scope := model.Equipment{
		EquipmentID: "eq-001", Department: "engineering", Name: "Oscilloscope", PurchaseDate: "2023-06-01",
		CreatedAt: minute(1), UpdatedAt: minute(1),
	}
	moved := scope
	moved.Department, moved.UpdatedAt = "sales", minute(2)

	buy := onEquipment("EquipmentBought", "eq-001", data{"department": "engineering", "name": "Oscilloscope",
		"purchaseDate": "2023-06-01"})
	for name, tt := range map[string]struct {
		given   []projectiontest.Event
		want    []model.Equipment
		letters []projectiontest.DeadLetter
	}{
		"bought": {[]projectiontest.Event{buy}, []model.Equipment{scope}, nil},
		"moved": {
			[]projectiontest.Event{buy, onEquipment("EquipmentMoved", "eq-001", data{"department": "sales"})},
			[]model.Equipment{moved}, nil,
		},
		"retired": {[]projectiontest.Event{buy, onEquipment("EquipmentRetired", "eq-001", nil)}, nil, nil},
		"not there": {
			[]projectiontest.Event{onEquipment("EquipmentMoved", "eq-001", data{"department": "sales"})}, nil,
			[]projectiontest.DeadLetter{{ID: "1", Reason: "eq-001"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			projectiontest.Run(t, projectiontest.Spec[model.Equipment]{
				Projection: ops.ProjectEquipment(tenants.Equipment{}), Codec: model.EquipmentCodec,
				Given: tt.given, Want: tt.want, WantDeadLetters: tt.letters,
			})
		})
	}
}
