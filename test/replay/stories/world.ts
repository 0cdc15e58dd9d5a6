import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { equalSpec } from '../../../src/jobs/document/equal-spec.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { jobStatusOf } from '../../../src/jobs/status/job-status.js';
import {
  type JobSummary,
  newSummary,
  withAllocation as summaryWithAllocation,
  withGroupsOf,
  withQueued,
} from '../../../src/jobs/status/job-summary.js';
import { type Allocation, isTerminalAllocation, type TaskState } from '../../../src/scheduler/allocation.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import {
  changed,
  type DeploymentChange,
  pauseDeployment,
  promoteDeployment,
  resumeDeployment,
} from '../../../src/scheduler/deployment/actions.js';
import { withAllocation } from '../../../src/scheduler/deployment/count-allocations.js';
import {
  type Deployment,
  deploymentDescriptions,
  isActiveDeployment,
} from '../../../src/scheduler/deployment/deployment.js';
import { type Evaluation, type EvaluationTrigger, isTerminalEvaluation } from '../../../src/scheduler/evaluation.js';
import type { Node } from '../../../src/scheduler/node.js';
import type { NodePool } from '../../../src/scheduler/node-pool.js';
import type { SchedulingResult } from '../../../src/scheduler/plan/outcome.js';
import { latestDeployment } from '../../../src/scheduler/plan/plan-job.js';
import { schedule } from '../../../src/scheduler/schedule.js';
import {
  defaultSchedulerConfiguration,
  type SchedulerConfiguration,
} from '../../../src/scheduler/scheduler-configuration.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';
import type { AllocationSelector, JobDocument, Step, Story, StoryConfig, StoryNode, TaskReport } from './story.js';
import { nodeFromStory, nodeIdOf } from './story-node.js';

/** What an evaluation met and what it decided. */
export interface Decision {
  readonly before: ReadonlyMap<string, Allocation>;
  readonly evaluation: Evaluation;
  readonly result: SchedulingResult;
  readonly job: Job | undefined;
}

/** The state of a story: records that its steps and the scheduler's decisions change. */
export class World {
  now: number;
  index = 100;
  readonly nodes = new Map<string, Node>();
  readonly jobs = new Map<string, Job>();
  readonly versions = new Map<string, Map<number, Job>>();
  readonly allocations = new Map<string, Allocation>();
  readonly evaluations = new Map<string, Evaluation>();
  readonly deployments = new Map<string, Deployment>();
  readonly summaries = new Map<string, JobSummary>();
  readonly pools = new Map<string, NodePool>();
  configuration: SchedulerConfiguration;
  #ids = 0;
  #nodeNumber = 0;

  constructor(story: Pick<Story, 'now' | 'config' | 'pools' | 'nodes'>) {
    this.now = story.now;
    this.configuration = configurationFrom(story.config ?? {});
    for (const { name, schedulerConfig } of story.pools ?? []) {
      this.pools.set(name, {
        Name: name,
        Description: '',
        Meta: null,
        SchedulerConfiguration:
          schedulerConfig === undefined
            ? null
            : {
                SchedulerAlgorithm: schedulerConfig.algorithm ?? '',
                MemoryOversubscriptionEnabled: schedulerConfig.memoryOversubscription ?? null,
              },
        CreateIndex: 1,
        ModifyIndex: 1,
      });
    }
    for (const node of story.nodes) this.addNode(node);
  }

  /** Changes the state; gives the evaluation that the step asks for. */
  take(step: Exclude<Step, { do: 'plan' }>): Evaluation | undefined {
    this.index += 1;
    switch (step.do) {
      case 'register': {
        const job = this.store(this.jobFrom(step.job));
        return step.eval === false ? undefined : this.newEvaluation(job, 'job-register');
      }
      case 'stop':
        return this.#stop(step.job, step.purge === true);
      case 'scale': {
        const job = this.#job(step.job);
        const groups = job.TaskGroups.map((group) =>
          group.Name === step.group ? { ...group, Count: step.count } : group,
        );
        return this.newEvaluation(this.store({ ...job, TaskGroups: groups }), 'job-scaling');
      }
      case 'evaluate':
        return this.#evaluationOf(step);
      case 'report':
        return this.#report(step);
      case 'transition':
        return this.#transition(step);
      case 'node':
        return this.#changeNode(step);
      case 'node-add':
        return this.addNode(step.node);
      case 'node-remove':
        this.nodes.delete(nodeIdOf(step.name));
        return undefined;
      case 'deployment':
        return this.#actOnDeployment(step);
      case 'config':
        this.configuration = configurationFrom(step.config);
        return undefined;
      case 'advance':
        this.now += step.ms;
        return undefined;
    }
  }

  addNode(node: StoryNode): undefined {
    this.#nodeNumber += 1;
    this.nodes.set(nodeIdOf(node.name), nodeFromStory(node, this.#nodeNumber));
    if (node.drain === true) this.#changeNode({ do: 'node', name: node.name, drain: true });
  }

  /** The stored form of a document, as a new job. The pool is filled in as at a registration, whose other steps stories do without. */
  jobFrom(document: JobDocument): Job {
    const decoded = decodeJob(document);
    if (decoded.isErr()) throw new Error(JSON.stringify(decoded.error));
    const job = canonicaliseJob(decoded.value);
    return job.NodePool === '' ? { ...job, NodePool: 'default' } : job;
  }

  /** Stores a job as a new version when it differs. */
  store(job: Job): Job {
    const before = this.jobs.get(job.ID);
    const stop = job.Stop;
    if (before !== undefined && equalSpec(before, { ...job, Stop: stop })) return before;
    const stored: Job = {
      ...job,
      Version: before === undefined ? 0 : before.Version + 1,
      Stable: false,
      Status: before?.Status ?? 'pending',
      CreateIndex: before?.CreateIndex ?? this.index,
      ModifyIndex: this.index,
      JobModifyIndex: this.index,
      SubmitTime: unixNanosFromInstant(this.now),
    };
    this.#putJob(stored);
    this.summaries.set(job.ID, withGroupsOf(this.summaries.get(job.ID) ?? newSummary(stored, this.index), stored));
    return stored;
  }

  newEvaluation(job: Job, trigger: string, nodeId?: string): Evaluation {
    const evaluation: Evaluation = {
      ID: this.#id('evaluation'),
      Namespace: 'default',
      Priority: job.Priority,
      Type: job.Type,
      TriggeredBy: trigger as EvaluationTrigger,
      JobID: job.ID,
      JobModifyIndex: job.JobModifyIndex,
      ...(nodeId === undefined ? {} : { NodeID: nodeId }),
      Status: 'pending',
      CreateIndex: this.index,
      ModifyIndex: this.index,
      CreateTime: unixNanosFromInstant(this.now),
      ModifyTime: unixNanosFromInstant(this.now),
    };
    return evaluation;
  }

  /** Decides without keeping anything. `job` stands for the stored one. */
  decide(evaluation: Evaluation, job = this.jobs.get(evaluation.JobID)): Decision {
    const own = [...this.allocations.values()].filter(({ JobID }) => JobID === evaluation.JobID);
    const snapshot = {
      job,
      allocations: own,
      versions: this.versions.get(evaluation.JobID) ?? new Map<number, Job>(),
      deployments: [...this.deployments.values()].filter(({ JobID }) => JobID === evaluation.JobID),
      cluster: clusterFrom(this.nodes.values(), this.allocations.values()),
      configuration: this.configuration,
      pool: this.pools.get(job?.NodePool ?? ''),
      readAllocation: (id: string) => this.allocations.get(id),
      index: this.index,
    };
    const ids = { next: (kind: string) => this.#id(kind) };
    const result = schedule(snapshot, evaluation, this.now, ids);
    return { before: new Map(this.allocations), evaluation, result, job };
  }

  /** Keeps what was decided. */
  apply({ evaluation, result, job }: Decision): void {
    for (const allocation of result.allocations) this.#putAllocation(allocation, false);
    for (const deployment of result.deployments) this.deployments.set(deployment.ID, deployment);
    for (const followUp of result.followUps) this.evaluations.set(followUp.ID, followUp);
    this.evaluations.set(evaluation.ID, result.evaluation);
    if (result.stableVersion !== undefined && job !== undefined) this.#putJob({ ...job, Stable: true });
    const summary = this.summaries.get(evaluation.JobID);
    if (summary !== undefined && result.evaluation.QueuedAllocations !== undefined) {
      this.summaries.set(evaluation.JobID, withQueued(summary, result.evaluation.QueuedAllocations));
    }
    this.#cancelBlocked(result.evaluation);
    this.#settleStatus(evaluation.JobID);
  }

  latestDeploymentOf(jobId: string): Deployment | undefined {
    return latestDeployment([...this.deployments.values()].filter(({ JobID }) => JobID === jobId));
  }

  select({ job, version, client, canary, health, first }: AllocationSelector): readonly Allocation[] {
    const chosen = [...this.allocations.values()].filter(
      (allocation) =>
        allocation.JobID === job &&
        allocation.DesiredStatus === 'run' &&
        (version === undefined || allocation.JobVersion === version) &&
        (client === undefined || allocation.ClientStatus === client) &&
        (canary === undefined || (allocation.DeploymentStatus?.Canary === true) === canary) &&
        (health === undefined || healthOf(allocation) === health),
    );
    return first === undefined ? chosen : chosen.slice(0, first);
  }

  #stop(jobId: string, purge: boolean): Evaluation {
    const job = this.#job(jobId);
    const evaluation = this.newEvaluation(job, 'job-deregister');
    if (!purge) {
      this.store({ ...job, Stop: true });
      return evaluation;
    }
    this.jobs.delete(jobId);
    this.versions.delete(jobId);
    this.summaries.delete(jobId);
    for (const { ID, JobID } of [...this.allocations.values()]) if (JobID === jobId) this.allocations.delete(ID);
    for (const { ID, JobID } of [...this.deployments.values()]) if (JobID === jobId) this.deployments.delete(ID);
    return evaluation;
  }

  #evaluationOf(step: Extract<Step, { do: 'evaluate' }>): Evaluation {
    if ('eval' in step) {
      const stored = this.evaluations.get(step.eval);
      if (stored === undefined) throw new Error(`No evaluation ${step.eval}`);
      return stored;
    }
    return this.newEvaluation(
      this.#job(step.job),
      step.trigger,
      step.node === undefined ? undefined : nodeIdOf(step.node),
    );
  }

  #report({ allocs, select, client, tasks, healthy }: Extract<Step, { do: 'report' }>): undefined {
    const chosen = select === undefined ? (allocs ?? []).map((id) => this.#allocation(id)) : this.select(select);
    for (const before of chosen) {
      const states = Object.entries(tasks ?? {}).map(([name, report]): [string, TaskState] => [
        name,
        this.#taskState(report),
      ]);
      this.#putAllocation(
        {
          ...before,
          ClientStatus: client,
          ...(tasks === undefined ? {} : { TaskStates: Object.fromEntries(states) }),
          ...(healthy === undefined
            ? {}
            : {
                DeploymentStatus: {
                  Healthy: healthy,
                  Timestamp: isoFromInstant(this.now),
                  Canary: before.DeploymentStatus?.Canary ?? false,
                  ModifyIndex: this.index,
                },
              }),
          ModifyIndex: this.index,
          ModifyTime: unixNanosFromInstant(this.now),
        },
        true,
      );
      this.#settleStatus(before.JobID);
    }
  }

  #taskState({ state, failed, startedAgo, finishedAgo, lastRestartAgo }: TaskReport): TaskState {
    const ago = (ms: number | undefined): string | null => (ms === undefined ? null : isoFromInstant(this.now - ms));
    return {
      State: state,
      Failed: failed ?? false,
      Restarts: lastRestartAgo === undefined ? 0 : 1,
      LastRestart: ago(lastRestartAgo),
      StartedAt: ago(startedAgo),
      FinishedAt: ago(finishedAgo),
      Events: null,
      Paused: '',
    };
  }

  #transition(step: Extract<Step, { do: 'transition' }>): undefined {
    for (const id of step.allocs) {
      const before = this.#allocation(id);
      const { DesiredTransition: flags } = before;
      this.allocations.set(id, {
        ...before,
        DesiredTransition: {
          ...flags,
          Migrate: step.migrate ?? flags.Migrate,
          Reschedule: step.reschedule ?? flags.Reschedule,
          ForceReschedule: step.forceReschedule ?? flags.ForceReschedule,
          MigrateDisablePlacement: step.migrateDisablePlacement ?? flags.MigrateDisablePlacement,
        },
      });
    }
  }

  #changeNode({ name, status, eligibility, drain, markEligible }: Extract<Step, { do: 'node' }>): undefined {
    const node = this.nodes.get(nodeIdOf(name));
    if (node === undefined) throw new Error(`No node ${name}`);
    const strategy = { Deadline: 0, IgnoreSystemJobs: false, ForceDeadline: null, StartedAt: isoFromInstant(this.now) };
    const drained = drain === undefined ? {} : { DrainStrategy: drain ? strategy : null };
    const eligible = drain === true ? 'ineligible' : markEligible === true ? 'eligible' : eligibility;
    this.nodes.set(node.ID, {
      ...node,
      ...(status === undefined ? {} : { Status: status }),
      ...(eligible === undefined ? {} : { SchedulingEligibility: eligible }),
      ...drained,
      ModifyIndex: this.index,
    });
  }

  #actOnDeployment({ deployment: id, action, groups }: Extract<Step, { do: 'deployment' }>): undefined {
    const deployment = this.deployments.get(id);
    if (deployment === undefined) throw new Error(`No deployment ${id}`);
    const moment = { now: this.now, index: this.index };
    const own = [...this.allocations.values()].filter(({ DeploymentID }) => DeploymentID === id);
    const change = ((): DeploymentChange => {
      switch (action) {
        case 'promote':
          return promoteDeployment(deployment, own, groups, moment)._unsafeUnwrap();
        case 'pause':
          return pauseDeployment(deployment, moment)._unsafeUnwrap();
        case 'resume':
          return resumeDeployment(deployment, moment)._unsafeUnwrap();
        case 'fail':
          return changed(deployment, 'failed', deploymentDescriptions.unhealthy, moment);
      }
    })();
    this.deployments.set(id, change.deployment);
    for (const allocation of change.allocations) this.allocations.set(allocation.ID, allocation);
  }

  /** `counts`: the deployment's counters follow, as they do for what a client reports. */
  #putAllocation(after: Allocation, counts: boolean): void {
    const before = this.allocations.get(after.ID);
    this.allocations.set(after.ID, after);
    const deployment = counts ? this.deployments.get(after.DeploymentID ?? '') : undefined;
    if (deployment !== undefined) this.deployments.set(deployment.ID, withAllocation(deployment, before, after));
    const summary = this.summaries.get(after.JobID);
    if (summary !== undefined) {
      this.summaries.set(after.JobID, summaryWithAllocation(summary, before?.ClientStatus, after));
    }
  }

  #cancelBlocked(ended: Evaluation): void {
    if (ended.Status !== 'complete' || ended.FailedTGAllocs !== undefined) return;
    for (const evaluation of this.evaluations.values()) {
      if (evaluation.JobID !== ended.JobID || evaluation.Status !== 'blocked') continue;
      this.evaluations.set(evaluation.ID, { ...evaluation, Status: 'canceled' });
    }
  }

  #settleStatus(jobId: string): void {
    const job = this.jobs.get(jobId);
    if (job === undefined) return;
    const own = <T extends { readonly JobID: string }>(records: Iterable<T>) =>
      [...records].filter(({ JobID }) => JobID === jobId);
    const Status = jobStatusOf(job, {
      hasActiveDeployment: () => own(this.deployments.values()).some(isActiveDeployment),
      hasLiveAllocation: () => own(this.allocations.values()).some((allocation) => !isTerminalAllocation(allocation)),
      hasOpenEvaluation: () => own(this.evaluations.values()).some((evaluation) => !isTerminalEvaluation(evaluation)),
      hasAnyEvaluation: () => own(this.evaluations.values()).length > 0,
    });
    if (Status !== job.Status) this.#putJob({ ...job, Status });
  }

  #putJob(job: Job): void {
    this.jobs.set(job.ID, job);
    const versions = this.versions.get(job.ID) ?? new Map<number, Job>();
    versions.set(job.Version, job);
    this.versions.set(job.ID, versions);
  }

  #job(id: string): Job {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`No job ${id}`);
    return job;
  }

  #allocation(id: string): Allocation {
    const allocation = this.allocations.get(id);
    if (allocation === undefined) throw new Error(`No allocation ${id}`);
    return allocation;
  }

  #id(kind: string): string {
    this.#ids += 1;
    return `${kind}-${String(this.#ids).padStart(6, '0')}`;
  }
}

export function healthOf({ DeploymentStatus: status }: Allocation): 'healthy' | 'unhealthy' | undefined {
  if (status?.Healthy === undefined || status.Healthy === null) return undefined;
  return status.Healthy ? 'healthy' : 'unhealthy';
}

function configurationFrom({ algorithm, preemption, memoryOversubscription }: StoryConfig): SchedulerConfiguration {
  return {
    ...defaultSchedulerConfiguration,
    SchedulerAlgorithm: algorithm ?? 'binpack',
    MemoryOversubscriptionEnabled: memoryOversubscription ?? false,
    ...(preemption === undefined
      ? {}
      : {
          PreemptionConfig: {
            SystemSchedulerEnabled: preemption.system ?? false,
            SysBatchSchedulerEnabled: preemption.sysbatch ?? false,
            BatchSchedulerEnabled: preemption.batch ?? false,
            ServiceSchedulerEnabled: preemption.service ?? false,
          },
        }),
  };
}
