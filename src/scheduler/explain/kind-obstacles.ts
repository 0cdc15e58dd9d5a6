import type { Constraint } from '../../jobs/document/placement.js';
import { needsAttribute } from '../../jobs/task-needs.js';
import { resolveTarget } from '../feasibility/constraint-targets.js';
import { hasDevices } from '../feasibility/device-match.js';
import { hasDriver, hasVolume, lackingNeeds, meets, networkReason } from '../feasibility/node-checks.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import { type Node, provisionOf } from '../node.js';
import type { PlacementObstacle, RemedialChange } from './obstacle.js';

/** Every rule about the node itself that it fails, independent of its allocations. `index` is that of the allocation. */
export function kindObstacles(wanted: GroupRequirements, node: Node, index: number): PlacementObstacle[] {
  return [
    ...wanted.jobConstraints.flatMap((constraint) => constraintObstacle(constraint, node)),
    ...wanted.drivers.filter((driver) => !hasDriver(node, driver)).map((driver) => driverObstacle(driver, node)),
    ...needObstacles(wanted, node),
    ...wanted.groupConstraints.flatMap((constraint) => constraintObstacle(constraint, node)),
    ...deviceObstacles(wanted, node),
    ...networkObstacles(wanted, node),
    ...volumeObstacles(wanted, node, index),
  ];
}

function constraintObstacle(constraint: Constraint, node: Node): PlacementObstacle[] {
  if (meets(constraint, node)) return [];
  const { LTarget, Operand, RTarget } = constraint;
  const { found, value } = resolveTarget(LTarget, node);
  const is = found ? `is "${value}"` : 'is not set';
  return [
    {
      kind: 'constraint',
      message: `The job requires ${LTarget} ${Operand} ${RTarget}`.trimEnd() + `; on the node it ${is}`,
      lack: 1,
      changes: constraintChanges(constraint, found ? value : ''),
    },
  ];
}

const equalities = ['', '=', '==', 'is'];

function constraintChanges({ LTarget, Operand, RTarget }: Constraint, value: string): readonly RemedialChange[] {
  const text = `${LTarget} ${Operand} ${RTarget}`.trimEnd();
  const dropped: RemedialChange = { of: 'job', subject: 'Constraints', from: text, to: '' };
  const name = /^\$\{((?:attr|meta)\..+)\}$/.exec(LTarget)?.[1];
  if (name === undefined || !equalities.includes(Operand) || RTarget.startsWith('${')) return [dropped];
  return [{ of: 'node', subject: name, from: value, to: RTarget }, dropped];
}

function driverObstacle(driver: string, node: Node): PlacementObstacle {
  const known = Object.hasOwn(node.Drivers, driver) ? node.Drivers[driver] : undefined;
  const from = known === undefined ? '' : known.Detected ? 'unhealthy' : 'not detected';
  const state = from === '' ? 'does not have it' : `reports it as ${from}`;
  return {
    kind: 'driver',
    message: `The job needs driver "${driver}"; the node ${state}`,
    lack: 1,
    changes: [{ of: 'node', subject: `Drivers.${driver}`, from, to: 'healthy' }],
  };
}

function needObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const provided = provisionOf(node) ?? '';
  return lackingNeeds(wanted, node).map((need) => ({
    kind: 'task_part',
    message: `Tasks of the group need ${need}, which the node does not provide`,
    lack: 1,
    changes: [
      {
        of: 'node',
        subject: needsAttribute,
        from: provided,
        to: [provided, need].filter((part) => part !== '').join(','),
      },
    ],
  }));
}

function deviceObstacles({ devices }: GroupRequirements, node: Node): PlacementObstacle[] {
  if (hasDevices(devices, node)) return [];
  return devices
    .filter((request) => !hasDevices([request], node) || devices.length === 1)
    .map(({ task, request }) => ({
      kind: 'device',
      message: `Task "${task}" requests ${request.Count} of device "${request.Name}", which the node does not have`,
      lack: 1,
      changes: [{ of: 'job', subject: 'Resources.Devices', from: request.Name, to: '' }],
    }));
}

function networkObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const reason = networkReason(wanted, node);
  if (reason === undefined) return [];
  const mode = wanted.network?.Mode ?? '';
  if (reason !== 'missing network') return [{ kind: 'network', message: sentence(reason), lack: 1, changes: [] }];
  return [
    {
      kind: 'network',
      message: `The node has no network of mode "${mode}"`,
      lack: 1,
      changes: [{ of: 'job', subject: 'Networks.Mode', from: mode, to: 'host' }],
    },
  ];
}

function volumeObstacles({ volumes }: GroupRequirements, node: Node, index: number): PlacementObstacle[] {
  return volumes
    .filter((volume) => !hasVolume(volume, node, index))
    .map((volume) => {
      const source = volume.PerAlloc ? `${volume.Source}[${index}]` : volume.Source;
      return {
        kind: 'volume',
        message: `The node has no volume "${source}" with the access that the job requests`,
        lack: 1,
        changes: [
          { of: 'node', subject: `HostVolumes.${source}`, from: '', to: volume.ReadOnly ? 'read-only' : 'writable' },
        ],
      };
    });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
