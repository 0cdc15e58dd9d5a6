import { decideRegistration } from '../../jobs/changes/decide-registration.js';
import type { Job } from '../../jobs/document/job.js';
import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import { clusterFrom } from '../cluster/cluster.js';
import { withAllocation } from '../deployment/count-allocations.js';
import type { Deployment } from '../deployment/deployment.js';
import {
  type DeploymentEvent,
  type DeploymentStep,
  transitionDeployment,
  type WatchedDeployment,
  watchedAllocations,
} from '../deployment/transition-deployment.js';
import type { Evaluation, EvaluationTrigger } from '../evaluation.js';
import type { Node } from '../node.js';
import type { NodePool } from '../node-pool.js';
import { latestDeployment } from '../plan/plan-job.js';
import { schedulingSteps } from '../schedule.js';
import { defaultSchedulerConfiguration } from '../scheduler-configuration.js';
import type { Steps } from '../steps.js';
import type { SimulatedCluster, TimelineEntry } from './simulation.js';

/** What belongs to a job. */
type OfJob = Pick<Allocation, 'Namespace' | 'JobID'>;

/** Two namespaces may have jobs of one ID. Names of namespaces have no slash. */
function keyOf({ Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): string {
  return `${Namespace}/${ID}`;
}

function ofJob({ Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): OfJob {
  return { Namespace, JobID: ID };
}

function ofSameJob({ Namespace, JobID }: OfJob): (one: OfJob) => boolean {
  return (one) => one.JobID === JobID && one.Namespace === Namespace;
}

/** The records of a simulated cluster, with one method to change each kind of record. Lives within one simulation. */
export class SimulatedWorld {
  now: Instant;
  index = 1;
  readonly nodes = new Map<string, Node>();
  /** By `keyOf`. */
  readonly jobs = new Map<string, Job>();
  readonly allocations = new Map<string, Allocation>();
  readonly deployments = new Map<string, Deployment>();
  readonly evaluations = new Map<string, Evaluation>();
  readonly timeline: TimelineEntry[] = [];
  /** How many records were examined so far, about. */
  examined = 0;
  readonly #pools: ReadonlyMap<string, NodePool>;
  readonly #versions = new Map<string, Map<number, Job>>();
  readonly #configuration;
  #ids = 0;

  constructor(start: SimulatedCluster) {
    this.now = start.now;
    this.#configuration = start.configuration ?? defaultSchedulerConfiguration;
    for (const node of start.nodes) this.nodes.set(node.ID, node);
    for (const job of start.jobs ?? []) this.#keepVersion(job);
    for (const allocation of start.allocations ?? []) this.allocations.set(allocation.ID, allocation);
    for (const deployment of start.deployments ?? []) this.deployments.set(deployment.ID, deployment);
    for (const evaluation of start.evaluations ?? []) this.evaluations.set(evaluation.ID, evaluation);
    this.#pools = new Map((start.pools ?? []).map((pool) => [pool.Name, pool]));
    const records = [...this.nodes.values(), ...this.jobs.values(), ...this.allocations.values()];
    for (const { ModifyIndex } of records) this.index = Math.max(this.index, ModifyIndex);
  }

  /** `of`: the job that the entry is about; `node`: the node that the text names at its end. */
  log(kind: TimelineEntry['kind'], subject: string, text: string, of?: OfJob, node?: string): void {
    const job = of === undefined ? {} : { namespace: of.Namespace, jobId: of.JobID };
    this.timeline.push({ at: this.now, kind, ...job, subject, text, ...(node === undefined ? {} : { node }) });
  }

  /** Registers a job as the interface does; an unchanged document only triggers an evaluation. */
  register(document: Job, trigger: EvaluationTrigger): void {
    const request = { job: document, version: null, policyId: () => this.#nextId('policy') };
    const registered = decideRegistration(this.jobs.get(keyOf(document)), request, this.index, this.now);
    if (registered.isErr()) return;
    const { job } = registered.value;
    this.#keepVersion(job);
    this.log('job', job.ID, `registered as version ${job.Version}`, ofJob(job));
    this.evaluate(job, trigger);
  }

  stop(job: Job): void {
    const stamps = { ModifyIndex: this.index, JobModifyIndex: this.index };
    this.#keepVersion({ ...job, ...stamps, Stop: true, Version: job.Version + 1 });
    this.log('job', job.ID, 'stopped', ofJob(job));
    this.evaluate(job, 'job-deregister');
  }

  evaluate(job: Job, trigger: EvaluationTrigger, nodeId?: string): void {
    const { Namespace, Priority, Type, ID: JobID } = job;
    const nanos = unixNanosFromInstant(this.now);
    const stamps = { CreateIndex: this.index, ModifyIndex: this.index, CreateTime: nanos, ModifyTime: nanos };
    const ID = this.#nextId('evaluation');
    const node = nodeId === undefined ? {} : { NodeID: nodeId };
    const asked = { ID, Namespace, Priority, Type, TriggeredBy: trigger, JobID, ...node };
    this.evaluations.set(ID, { ...asked, Status: 'pending', ...stamps });
  }

  /** Stores an allocation that an agent, a drain or a deployment has changed. If it frees room, blocked evaluations are retried. */
  change(after: Allocation): void {
    const before = this.allocations.get(after.ID);
    this.#put(after, before);
    const deployment = this.deployments.get(after.DeploymentID ?? '');
    if (deployment === undefined) return;
    this.deployments.set(deployment.ID, withAllocation(deployment, before, after));
    this.moveDeployment(deployment.ID, { type: 'allocations_changed' });
  }

  /** Applies an event to a deployment, with all consequences; returns the reason when it cannot be applied. */
  moveDeployment(id: string, event: DeploymentEvent): string | undefined {
    const deployment = this.deployments.get(id);
    const job = deployment === undefined ? undefined : this.jobOf(deployment);
    if (deployment === undefined || job === undefined) return 'there is no such deployment';
    this.examined += this.allocations.size + this.evaluations.size;
    const watched = this.#watched(deployment, job);
    const step = transitionDeployment(watched, event, { now: this.now, index: this.index });
    if (step.isErr()) return step.error.message;
    this.#follow(step.value, job);
    return undefined;
  }

  #watched(deployment: Deployment, job: Job): WatchedDeployment {
    const versions = [...(this.#versions.get(keyOf(job))?.values() ?? [])].reverse();
    const version = versions.find(({ Version }) => Version === deployment.JobVersion) ?? job;
    const allocations = this.allocationsOf(deployment).filter(({ DeploymentID }) => DeploymentID === deployment.ID);
    const newest = [...this.evaluations.values()].filter(ofSameJob(deployment)).at(-1);
    const evaluatedIndex = newest?.SnapshotIndex ?? newest?.CreateIndex ?? 0;
    const watched = watchedAllocations(deployment, allocations);
    return { ...watched, deployment, job, version, versions: () => versions, evaluatedIndex };
  }

  /** Processes the due evaluations, highest priority first, and then the blocked ones. */
  *work(): Steps<void> {
    this.examined += this.allocations.size + this.evaluations.size + this.nodes.size;
    for (let due = this.#nextDue(); due !== undefined; due = this.#nextDue()) {
      this.index += 1;
      yield;
      yield* this.#decide(due);
    }
  }

  jobOf({ Namespace, JobID }: OfJob): Job | undefined {
    return this.jobs.get(keyOf({ Namespace, ID: JobID }));
  }

  allocationsOf(of: OfJob): Allocation[] {
    return [...this.allocations.values()].filter(ofSameJob(of));
  }

  latestDeploymentOf(of: OfJob): Deployment | undefined {
    return latestDeployment([...this.deployments.values()].filter(ofSameJob(of)));
  }

  /** When the next delayed evaluation is due. */
  get nextWait(): Instant {
    const waits = [...this.evaluations.values()].map((one) =>
      one.Status === 'pending' && one.WaitUntil !== undefined ? Date.parse(one.WaitUntil) : Number.POSITIVE_INFINITY,
    );
    return Math.min(Number.POSITIVE_INFINITY, ...waits);
  }

  /** Marks the blocked evaluations to be retried. */
  unblock(): void {
    for (const evaluation of this.evaluations.values()) {
      if (evaluation.Status === 'blocked') this.#retried.add(evaluation.ID);
    }
  }

  readonly #retried = new Set<string>();

  #nextDue(): Evaluation | undefined {
    const due = [...this.evaluations.values()].filter(
      (one) =>
        (one.Status === 'pending' && (one.WaitUntil === undefined || Date.parse(one.WaitUntil) <= this.now)) ||
        (one.Status === 'blocked' && this.#retried.has(one.ID)),
    );
    due.sort((left, right) => right.Priority - left.Priority || left.CreateIndex - right.CreateIndex);
    return due.find(({ Status }) => Status === 'pending') ?? due[0];
  }

  *#decide(evaluation: Evaluation): Steps<void> {
    this.examined += this.allocations.size + this.nodes.size;
    this.#retried.delete(evaluation.ID);
    const job = this.jobOf(evaluation);
    const cluster = clusterFrom(this.nodes.values(), this.allocations.values());
    yield;
    const result = yield* schedulingSteps(
      {
        job,
        allocations: this.allocationsOf(evaluation),
        versions: (job && this.#versions.get(keyOf(job))) ?? new Map<number, Job>(),
        deployments: [...this.deployments.values()].filter(ofSameJob(evaluation)),
        cluster,
        configuration: this.#configuration,
        pool: this.#pools.get(job?.NodePool ?? ''),
        readAllocation: (id) => this.allocations.get(id),
        index: this.index,
      },
      evaluation,
      this.now,
      { next: (kind) => this.#nextId(kind) },
    );
    for (const deployment of result.deployments) this.#putDeployment(deployment);
    for (const allocation of result.allocations) this.#put(allocation, this.allocations.get(allocation.ID));
    const written = [...result.followUps, ...result.preemptions, result.evaluation];
    for (const one of written) this.evaluations.set(one.ID, one);
    if (result.stableVersion !== undefined) this.#markStable(job, result.stableVersion);
    if (result.looksAgain && job !== undefined) this.evaluate(job, 'alloc-failure');
    this.#supersede(result.evaluation, result.followUps);
  }

  /** A newer evaluation covers the whole job, so older blocked ones are cancelled. */
  #supersede(evaluation: Evaluation, followUps: readonly Evaluation[]): void {
    const blocked = followUps.find(({ Status }) => Status === 'blocked');
    if (blocked !== undefined) this.log('blocked', evaluation.JobID, 'waits for room', evaluation);
    if (blocked === undefined && evaluation.FailedTGAllocs !== undefined) return;
    for (const one of [...this.evaluations.values()].filter(ofSameJob(evaluation))) {
      if (one.Status !== 'blocked' || one.ID === blocked?.ID || one.ID === evaluation.ID) continue;
      this.evaluations.set(one.ID, { ...one, Status: 'canceled' });
    }
  }

  #follow({ deployment, allocations, effects }: DeploymentStep, job: Job): void {
    this.#putDeployment(deployment);
    for (const allocation of allocations) this.#put(allocation, this.allocations.get(allocation.ID));
    const revert = effects.find(({ type }) => type === 'revert');
    const target = revert?.type === 'revert' ? this.#versions.get(keyOf(job))?.get(revert.version) : undefined;
    if (target !== undefined) this.register({ ...target, VersionTag: null }, 'deployment-watcher');
    else if (effects.length > 0) this.evaluate(job, 'deployment-watcher');
  }

  #put(after: Allocation, before: Allocation | undefined): void {
    this.allocations.set(after.ID, after);
    if (before === undefined) this.log('allocation', after.Name, `placed on ${after.NodeName}`, after, after.NodeName);
    else if (before.DesiredStatus !== after.DesiredStatus) {
      this.log('allocation', after.Name, after.DesiredDescription ?? `desired status is ${after.DesiredStatus}`, after);
    }
    if (before !== undefined && before.ClientStatus !== after.ClientStatus) {
      this.log('allocation', after.Name, `is ${after.ClientStatus} on ${after.NodeName}`, after, after.NodeName);
    }
    this.#logHealth(before, after);
    if (isClientTerminal(after) && before !== undefined && !isClientTerminal(before)) this.unblock();
  }

  #logHealth(before: Allocation | undefined, after: Allocation): void {
    const healthy = after.DeploymentStatus?.Healthy ?? null;
    if (healthy === null || (before?.DeploymentStatus?.Healthy ?? null) === healthy) return;
    this.log('allocation', after.Name, healthy ? 'is healthy' : 'is not healthy', after);
  }

  #putDeployment(after: Deployment): void {
    const before = this.deployments.get(after.ID);
    this.deployments.set(after.ID, after);
    if (before?.Status === after.Status && before.StatusDescription === after.StatusDescription) return;
    this.log(
      'deployment',
      after.JobID,
      `version ${after.JobVersion} is ${after.Status}: ${after.StatusDescription}`,
      after,
    );
  }

  #markStable(job: Job | undefined, version: number): void {
    const stored = job && this.#versions.get(keyOf(job))?.get(version);
    if (stored !== undefined) this.#keepVersion({ ...stored, Stable: true });
  }

  /** The newest version is the job; older ones are kept beside it. */
  #keepVersion(job: Job): void {
    const key = keyOf(job);
    const versions = this.#versions.get(key) ?? new Map<number, Job>();
    versions.set(job.Version, job);
    this.#versions.set(key, versions);
    if (job.Version >= (this.jobs.get(key)?.Version ?? 0)) this.jobs.set(key, job);
  }

  #nextId(kind: string): string {
    this.#ids += 1;
    return `${kind}-${String(this.#ids).padStart(6, '0')}`;
  }
}
