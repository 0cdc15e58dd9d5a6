import type { AllocationSelector, JobDocument, Step, Story, StoryNode } from '../replay/stories/story.js';
import { StoryPlayer } from '../replay/stories/story-player.js';

const second = 1_000_000_000;

/** A ready node with 4000 MHz and 4000 MB. */
export function storyNode(name: string, more: Partial<StoryNode> = {}): StoryNode {
  return {
    name,
    status: 'ready',
    eligibility: 'eligible',
    attributes: { 'cpu.arch': 'amd64', 'kernel.name': 'linux', 'nomad.version': '2.0.6' },
    cpu: 4000,
    memoryMB: 4000,
    diskMB: 50_000,
    datacenter: 'dc1',
    nodePool: 'default',
    drivers: { exec: { detected: true, healthy: true } },
    ...more,
  };
}

type Members = Readonly<Record<string, unknown>>;

/** A task with 100 MB and the given MHz. */
export function storyTask(cpu = 100, more: Members = {}): Members {
  return {
    Name: 'main',
    Driver: 'exec',
    Config: { command: '/bin/serve' },
    Resources: { CPU: cpu, MemoryMB: 100 },
    ...more,
  };
}

/** An update block; by default for deployments of one allocation at a time. */
export function storyUpdate(more: Members = {}): Members {
  return {
    Stagger: 30 * second,
    MaxParallel: 1,
    HealthCheck: 'task_states',
    MinHealthyTime: 10 * second,
    HealthyDeadline: 300 * second,
    ProgressDeadline: 600 * second,
    AutoRevert: false,
    AutoPromote: false,
    Canary: 0,
    ...more,
  };
}

/** A group `api` with one task, without deployments. */
export function storyGroup(more: Members = {}): Members {
  return { Name: 'api', Count: 1, EphemeralDisk: { SizeMB: 100 }, Tasks: [storyTask()], ...more };
}

export function storyJob(
  ID: string,
  Type: 'service' | 'batch' | 'system' | 'sysbatch',
  groups: readonly Members[],
  more: Members = {},
): JobDocument {
  const updated = Type === 'service' || Type === 'system';
  const TaskGroups = groups.map((group) => (updated ? { Update: storyUpdate({ MaxParallel: 0 }), ...group } : group));
  return { ID, Name: ID, Type, Datacenters: ['dc1'], Priority: 50, TaskGroups, ...more };
}

export function register(job: JobDocument): Step {
  return { do: 'register', job };
}

/** Marks the pending allocations of a job as running. */
export function begin(job: string, more: { readonly healthy?: boolean } & Partial<AllocationSelector> = {}): Step {
  const { healthy, ...selector } = more;
  return {
    do: 'report',
    select: { job, client: 'pending', ...selector },
    client: 'running',
    tasks: { main: { state: 'running', startedAgo: 0 } },
    ...(healthy === undefined ? {} : { healthy }),
  };
}

export function fail(...allocs: string[]): Step {
  return {
    do: 'report',
    allocs,
    client: 'failed',
    tasks: { main: { state: 'dead', failed: true, startedAgo: 60_000, finishedAgo: 0 } },
  };
}

export function evaluate(job: string, trigger: string): Step {
  return { do: 'evaluate', job, trigger };
}

const nothing = { placed: [], stopped: [], preempted: [], updatedInPlace: [], unknown: [], evals: [] };

/** Performs the steps and returns the result of the last one, in the form of recorded stories. */
export function lastOf(nodes: readonly StoryNode[], steps: readonly Step[], more: Partial<Story> = {}): Members {
  const told = new StoryPlayer({ id: 'story', now: 1_800_000_000_000, nodes, steps, ...more }).tellLast();
  return { ...nothing, ...told };
}
