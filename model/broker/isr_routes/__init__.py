"""How a leader's ISR gets accepted: by AlterPartition (2.7), and before it by the state znode. Nothing is sent."""
