import { firstDifference } from '../difference.js';
import type { Difference } from '../player.js';
import type { Freedom } from './story.js';
import { ourReason } from './words.js';

type Told = Readonly<Record<string, unknown>>;

/** The first difference between what we tell of a step and what was recorded, apart from what the step leaves to chance. */
export function compareStep(ours: Told, recorded: Told, freedom: Freedom): Difference {
  const [told, expected] = withoutChance(ours, recorded, freedom);
  for (const name of new Set([...Object.keys(expected), ...Object.keys(told)])) {
    const difference = firstDifference(normal(told[name]), normal(expected[name]), name);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Empty lists and records are the same as absent ones. */
function normal(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.length === 0
      ? undefined
      : value.map((item) => (typeof item === 'object' ? (normal(item) ?? {}) : item));
  const members = Object.entries(value)
    .map(([name, member]): [string, unknown] => [ourReason(name), normal(member)])
    .filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

interface Placed {
  readonly alloc: string;
  readonly node?: string;
  readonly ports?: readonly Port[];
}

interface Port {
  readonly label: string;
  readonly value: number | 'dynamic';
  readonly to?: number | 'same';
  readonly hostIP?: string;
}

function withoutChance(ours: Told, recorded: Told, freedom: Freedom): [Told, Told] {
  const told = { ...ours };
  const expected = { ...recorded };
  if (freedom.free !== undefined) {
    const placed = (told['placed'] ?? []) as readonly Placed[];
    told['placedOn'] = {
      among: [...freedom.free],
      count: placed.length,
      ...(freedom.onePerNode === true
        ? { eachNodeOnce: new Set(placed.map(({ node }) => node)).size === placed.length }
        : {}),
    };
    const strays = placed.filter(({ node }) => !freedom.free?.includes(node ?? ''));
    if (strays.length > 0) told['placedOn'] = { strays };
    told['placed'] = placed.map(({ node: _node, ports, ...rest }) => ({
      ...rest,
      ...(ports === undefined ? {} : { ports: ports.map(({ hostIP: _address, ...port }) => port) }),
    }));
  }
  if (freedom.freeEvalNode !== undefined) {
    told['evals'] = ((told['evals'] ?? []) as readonly Told[]).map(({ node, ...rest }) => ({
      ...rest,
      ...(freedom.freeEvalNode?.includes(String(node)) ? { nodeAmong: [...freedom.freeEvalNode] } : { node }),
    }));
    const { blockedEval: _blocked, ...end } = told['eval'] as Told;
    told['eval'] = end;
  }
  told['deploymentUpdates'] = effective(told['deploymentUpdates']);
  expected['deploymentUpdates'] = effective(expected['deploymentUpdates']);
  if (Array.isArray(told['placed']) && Array.isArray(expected['placed'])) {
    expected['placed'] = portsAlike(told['placed'], expected['placed']);
  }
  return [told, expected];
}

interface Update {
  readonly deployment: string;
  readonly status: string;
}

/** Repeated updates, and those of a deployment that is cancelled by then, have no effect. In order of deployment and status: recorded ones are in no order. */
function effective(updates: unknown): readonly Update[] {
  const kept: Update[] = [];
  for (const update of (updates ?? []) as readonly Update[]) {
    const before = kept.filter(({ deployment }) => deployment === update.deployment);
    if (before.some(({ status }) => status === update.status || status === 'cancelled')) continue;
    kept.push(update);
  }
  const key = ({ deployment, status }: Update): string => `${deployment} ${status}`;
  return kept.sort((left, right) => (key(left) < key(right) ? -1 : 1));
}

/** Where any port of the range would do, ours is as good. */
function portsAlike(ours: readonly Placed[], recorded: readonly Placed[]): readonly Placed[] {
  return recorded.map((expected, at): Placed => {
    const own = ours[at]?.ports;
    if (expected.ports === undefined || own === undefined) return expected;
    const ports = [...expected.ports]
      .sort((left, right) => (left.label < right.label ? -1 : 1))
      .map((port, position) => {
        const given = own[position]?.value;
        const value =
          port.value === 'dynamic' && typeof given === 'number' && given >= 20_000 && given <= 32_000
            ? given
            : port.value;
        return { ...port, value, ...(port.to === 'same' && typeof value === 'number' ? { to: value } : {}) };
      });
    return { ...expected, ports };
  });
}
