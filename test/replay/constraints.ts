import {
  type ConstraintSubject,
  checkConstraint,
  type ResolvedTarget,
  resolveTarget,
} from '../../src/scheduler/feasibility/constraint-operators.js';
import {
  checkDeviceConstraint,
  type DeviceAttribute,
  resolveDeviceTarget,
} from '../../src/scheduler/feasibility/device-constraints.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface OperatorVector {
  readonly kind: 'operator';
  readonly operand: string;
  readonly left: string;
  readonly left_found: boolean;
  readonly right: string;
  readonly right_found: boolean;
  readonly answer: boolean;
}

interface ResolveVector {
  readonly kind: 'resolve';
  readonly target: string;
  readonly node: ConstraintSubject;
  readonly answer: ResolvedTarget;
}

interface ConstraintVector {
  readonly kind: 'constraint';
  readonly constraint: { readonly LTarget: string; readonly RTarget: string; readonly Operand: string };
  readonly node: ConstraintSubject;
  readonly answer: boolean;
}

interface DeviceVector {
  readonly kind: 'device';
  readonly device: {
    readonly Vendor: string;
    readonly Type: string;
    readonly Name: string;
    readonly Instances: readonly string[];
    readonly Attributes: Readonly<Record<string, DeviceAttribute>>;
  };
  readonly left: string;
  readonly operand: string;
  readonly right: string;
  readonly answer: boolean;
}

type ConstraintsVector = Vector & (OperatorVector | ResolveVector | ConstraintVector | DeviceVector);

/** Operators, targets on nodes, and both for devices. */
export const play: Play<ConstraintsVector> = (vector) => firstDifference(answer(vector), vector.answer);

function answer(vector: ConstraintsVector): unknown {
  switch (vector.kind) {
    case 'operator': {
      const left = { value: vector.left, found: vector.left_found };
      return checkConstraint(vector.operand, left, { value: vector.right, found: vector.right_found });
    }
    case 'resolve':
      return resolveTarget(vector.target, vector.node);
    case 'constraint': {
      const { LTarget, Operand, RTarget } = vector.constraint;
      return checkConstraint(Operand, resolveTarget(LTarget, vector.node), resolveTarget(RTarget, vector.node));
    }
    case 'device': {
      const device = { ...vector.device, Instances: vector.device.Instances.map((ID) => ({ ID })) };
      const [left, right] = [vector.left, vector.right].map((target) => resolveDeviceTarget(target, device));
      return checkDeviceConstraint(vector.operand, left, right);
    }
  }
}
