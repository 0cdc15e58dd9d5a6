import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { StoryNames } from './names.js';
import { stateText, toldDecision, toldState } from './told.js';
import type { Decision, World } from './world.js';

type Told = Readonly<Record<string, unknown>>;

/** A decision in a story where the choice of nodes and allocations is left to chance: numbers instead of names. */
export function countedDecision(decision: Decision, world: World, names: StoryNames): Told {
  const told = toldDecision(decision, world, names);
  const placed = decision.result.allocations.filter(({ ID }) => !decision.before.has(ID));
  const perNode = placed.filter(({ JobType }) => JobType === 'system' || JobType === 'sysbatch');
  return {
    ...told,
    placed: counted(placed.map(placementText)),
    ...(perNode.length === 0 ? {} : { placedOnNodes: new Set(perNode.map(({ NodeID }) => NodeID)).size }),
    stopped: counted(listOf(told['stopped']).map(stopText)),
    ...counts(told, [
      'updatedInPlace',
      'unknown',
      'reconnected',
      'followupAnnotated',
      'rescheduleAnnotated',
      'preempted',
    ]),
  };
}

/** The state after a decision was applied, likewise. */
export function countedState(world: World, names: StoryNames, jobId: string): Told {
  const allocations = [...world.allocations.values()].filter(({ JobID }) => JobID === jobId);
  return { ...toldState(world, names, jobId), allocs: counted(allocations.map(stateText)) };
}

function placementText({ JobVersion, DeploymentStatus, PreviousAllocation }: Allocation): string {
  const canary = DeploymentStatus?.Canary === true ? ' canary' : '';
  return `v${JobVersion}${canary}${PreviousAllocation === undefined ? '' : ' with previous'}`;
}

function stopText({ description, client }: Told): string {
  return client === undefined ? String(description) : `${description} -> ${client}`;
}

function counts(told: Told, lists: readonly string[]): Told {
  return Object.fromEntries(
    lists.flatMap((name) => (listOf(told[name]).length === 0 ? [] : [[name, listOf(told[name]).length]])),
  );
}

function counted(texts: readonly string[]): Told {
  const sums = new Map<string, number>();
  for (const text of texts) sums.set(text, (sums.get(text) ?? 0) + 1);
  return Object.fromEntries(sums);
}

function listOf(value: unknown): readonly Told[] {
  return (value ?? []) as readonly Told[];
}
