import type { Vector } from '../player.js';

/** A node as stories write it: MHz over equal cores, MB. */
export interface StoryNode {
  readonly name: string;
  readonly status: 'ready' | 'down' | 'initializing' | 'disconnected';
  readonly eligibility: 'eligible' | 'ineligible';
  readonly attributes?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, string>>;
  readonly datacenter: string;
  readonly nodePool: string;
  readonly nodeClass?: string;
  readonly cpu: number;
  readonly cores?: number;
  readonly memoryMB: number;
  readonly diskMB: number;
  readonly reserved?: {
    readonly cpu?: number;
    readonly memoryMB?: number;
    readonly diskMB?: number;
    readonly hostPorts?: string;
  };
  readonly drivers?: Readonly<Record<string, { readonly detected: boolean; readonly healthy: boolean }>>;
  readonly hostVolumes?: Readonly<Record<string, { readonly readOnly: boolean }>>;
  readonly devices?: readonly {
    readonly vendor: string;
    readonly type: string;
    readonly name: string;
    readonly healthy?: number;
    readonly unhealthy?: number;
    readonly attributes?: Readonly<Record<string, string>>;
  }[];
  readonly networkModes?: readonly string[];
  readonly hostNetworks?: readonly { readonly alias: string; readonly address: string; readonly device: string }[];
  readonly minDynamicPort?: number;
  readonly maxDynamicPort?: number;
  readonly nodeMaxAllocs?: number;
  readonly drain?: boolean;
}

export interface StoryConfig {
  readonly algorithm?: 'binpack' | 'spread';
  readonly preemption?: Readonly<Partial<Record<'system' | 'sysbatch' | 'batch' | 'service', boolean>>>;
  readonly memoryOversubscription?: boolean;
  readonly nodeLimitForFeasibilityChecks?: number;
}

export interface StoryPool {
  readonly name: string;
  readonly schedulerConfig?: { readonly algorithm?: 'binpack' | 'spread'; readonly memoryOversubscription?: boolean };
}

export type JobDocument = Readonly<Record<string, unknown>> & { readonly ID: string };

export interface TaskReport {
  readonly state: 'pending' | 'running' | 'dead';
  readonly failed?: boolean;
  readonly startedAgo?: number;
  readonly finishedAgo?: number;
  readonly lastRestartAgo?: number;
}

export interface AllocationSelector {
  readonly job: string;
  readonly version?: number;
  readonly client?: string;
  readonly canary?: boolean;
  readonly health?: string;
  readonly first?: number;
}

export type Step =
  | { readonly do: 'register'; readonly job: JobDocument; readonly eval?: boolean }
  | { readonly do: 'plan'; readonly job: JobDocument }
  | { readonly do: 'stop'; readonly job: string; readonly purge?: boolean }
  | { readonly do: 'scale'; readonly job: string; readonly group: string; readonly count: number }
  | { readonly do: 'evaluate'; readonly eval: string }
  | { readonly do: 'evaluate'; readonly job: string; readonly trigger: string; readonly node?: string }
  | {
      readonly do: 'report';
      readonly allocs?: readonly string[];
      readonly select?: AllocationSelector;
      readonly client: 'pending' | 'running' | 'complete' | 'failed';
      readonly tasks?: Readonly<Record<string, TaskReport>>;
      readonly healthy?: boolean;
    }
  | {
      readonly do: 'transition';
      readonly allocs: readonly string[];
      readonly migrate?: boolean;
      readonly reschedule?: boolean;
      readonly forceReschedule?: boolean;
      readonly migrateDisablePlacement?: boolean;
    }
  | {
      readonly do: 'node';
      readonly name: string;
      readonly status?: StoryNode['status'];
      readonly eligibility?: StoryNode['eligibility'];
      readonly drain?: boolean;
      readonly markEligible?: boolean;
    }
  | { readonly do: 'node-add'; readonly node: StoryNode }
  | { readonly do: 'node-remove'; readonly name: string }
  | {
      readonly do: 'deployment';
      readonly deployment: string;
      readonly action: 'promote' | 'fail' | 'pause' | 'resume';
      readonly groups?: readonly string[];
    }
  | { readonly do: 'config'; readonly config: StoryConfig }
  | { readonly do: 'advance'; readonly ms: number };

/** What a step leaves to chance. */
export interface Freedom {
  /** Nodes on which the placements may go. */
  readonly free?: readonly string[];
  readonly onePerNode?: boolean;
  /** Nodes that the blocked evaluation may name. */
  readonly freeEvalNode?: readonly string[];
}

export type StoryStep = Step & Freedom & { readonly expect?: Readonly<Record<string, unknown>> };

/** A course of events and the scheduler's decisions in it. */
export interface Story extends Vector {
  readonly about?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly countsOnly?: boolean;
  readonly config?: StoryConfig;
  readonly pools?: readonly StoryPool[];
  readonly nodes: readonly StoryNode[];
  readonly steps: readonly StoryStep[];
}
