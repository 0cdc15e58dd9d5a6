import type { Step, Story, StoryNode } from '../../replay/stories/story.js';
import {
  begin,
  evaluate,
  lastOf,
  register,
  storyGroup,
  storyJob,
  storyNode,
  storyTask,
} from '../../support/stories.js';

type Members = Readonly<Record<string, unknown>>;
/** A member of a list of a decision. */
interface Item {
  readonly alloc: string;
  readonly version: number;
  readonly canary?: boolean;
  readonly deployment?: string;
  readonly previous?: string;
  readonly reschedule?: object;
  readonly client?: string;
  readonly trigger: string;
  readonly status: string;
  readonly waitMs?: number;
}
type Told = Readonly<Record<string, readonly Item[] | undefined>>;

export const second = 1_000_000_000;

/** Ready nodes n1, n2 and so on. */
export function nodes(count: number, more: Partial<StoryNode> = {}): StoryNode[] {
  return Array.from({ length: count }, (_, at) => storyNode(`n${at + 1}`, more));
}

/** A group `api` whose task asks for so many MHz: another number is a change that replaces. */
export function sized(cpu: number, more: Members = {}): Members {
  return storyGroup({ Tasks: [storyTask(cpu)], ...more });
}

/** Registers the job `job` with one group. */
export function jobOf(type: StoryJobType, group: object): Step {
  return register(storyJob('job', type, [group as never]));
}
type StoryJobType = 'service' | 'batch' | 'system' | 'sysbatch';

/** The deployment of `job` succeeds. */
export const settled: readonly Step[] = [begin('job', { healthy: true }), evaluate('job', 'deployment-watcher')];

/** Each node gets one allocation of the job at most. */
export const distinctHosts = { Constraints: [{ Operand: 'distinct_hosts' }] };

export function down(name: string): Step {
  return { do: 'node', name, status: 'down' };
}

/** The node is out of reach. */
export function away(name: string): Step {
  return { do: 'node', name, status: 'disconnected' };
}

export function ineligible(name: string): Step {
  return { do: 'node', name, eligibility: 'ineligible' };
}

export function seconds(count: number): Step {
  return { do: 'advance', ms: count * 1000 };
}

/** A task that differs from that of `sized` only in how it is ended: a change that keeps allocations. */
export function gentle(more: object): Members {
  return storyGroup({ ...more, Tasks: [storyTask(100, { KillTimeout: 9 * second })] });
}

export function draining(name: string, ...allocs: string[]): Step[] {
  return [
    { do: 'node', name, drain: true },
    { do: 'transition', allocs, migrate: true },
  ];
}

/**
 * What the last step came to, in few words: the lists that are not empty, and the counts of desired updates that are not 0. A placement
 * is told with its version, and with what it stands for; its node, which is often left to chance, is not.
 */
export function outlineOf(nodes: readonly StoryNode[], steps: readonly Step[], more: Partial<Story> = {}): Members {
  const told = lastOf(nodes, steps, more) as Told;
  const { placed = [], stopped = [], evals = [] } = told;
  const names = (list: Told[string] | undefined): string[] => (list ?? []).map(({ alloc }) => alloc);
  const lists = {
    placed: placed.map(placement),
    stopped: stopped.map(({ alloc, client }) => (client === undefined ? alloc : `${alloc} ${client}`)),
    preempted: names(told['preempted']),
    inPlace: names(told['updatedInPlace']),
    unknown: names(told['unknown']),
    reconnected: names(told['reconnected']),
    notPlaced: names(told['rescheduleAnnotated']),
    evals: evals.map(({ trigger, status, waitMs }) => `${trigger} ${waitMs ?? status}`),
  };
  return {
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
    desired: told['desired'],
  };
}

function placement({ alloc, version, canary, deployment, reschedule, previous }: Item): string {
  const marks = [
    canary === true ? 'canary' : undefined,
    deployment,
    previous === undefined ? 'new' : undefined,
    reschedule === undefined ? undefined : 'rescheduled',
  ];
  return [alloc, `v${version}`, ...marks].filter((mark) => mark !== undefined).join(' ');
}
