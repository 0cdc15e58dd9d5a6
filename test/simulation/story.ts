import { recordingDelivery } from '../../adapters/memory/index.js';
import { hostPrincipal } from '../../src/index.js';
import type { Job } from '../../src/jobs/document/job.js';
import { jobs } from '../../src/jobs/job-record.js';
import { deliveries } from '../../src/notifications/delivery/delivery.js';
import { events, type StoredEvent } from '../../src/notifications/events/event.js';
import { stopAllocation } from '../../src/operations/allocations/stop-allocation.js';
import { promoteDeployment } from '../../src/operations/deployments/actions.js';
import { dispatchJob } from '../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { scaleJob } from '../../src/operations/jobs/scale-job.js';
import { stopJob } from '../../src/operations/jobs/stop-job.js';
import { collectGarbage } from '../../src/operations/maintenance/collect.js';
import { drainNode, setNodeEligibility } from '../../src/operations/nodes/drain-and-eligibility.js';
import { createNotificationConfiguration } from '../../src/operations/notifications/configurations/create-notification-configuration.js';
import { putWorkspace } from '../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { type Allocation, allocations, isTerminalAllocation } from '../../src/scheduler/allocation.js';
import { type Deployment, deployments, isActiveDeployment } from '../../src/scheduler/deployment/deployment.js';
import { evaluations } from '../../src/scheduler/evaluation.js';
import { hour, minute, second } from '../../src/shared/duration.js';
import { type Behaviour, type FakeCluster, fakeCluster } from '../support/fake-agents.js';
import { Invariants } from './invariants.js';
import { type Random, randomFrom, shareOf } from './random.js';
import { randomJob } from './random-job.js';

/** What happened, and what did not hold. */
export interface Played {
  readonly steps: readonly string[];
  readonly faults: readonly string[];
}

const steps = 24;
const jobIds = ['a', 'b', 'c', 'd', 'e'];
const nodeIds = ['n1', 'n2', 'n3', 'n4'];

/** Plays one installation: random jobs, nodes that fall silent, tasks that fail, deliveries that fail, clocks that are set. */
export async function playStory(seed: number): Promise<Played> {
  return new Story(seed).play();
}

class Story {
  readonly #random: Random;
  readonly #cluster: FakeCluster;
  readonly #invariants: Invariants;
  readonly #steps: string[] = [];
  readonly #silent = new Set<string>();
  readonly #purged = new Set<string>();
  /** What the receiver has accepted, in order. */
  readonly #accepted: string[] = [];
  readonly #seed: number;
  /** From then on nothing fails any more. */
  #calm = false;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = randomFrom(seed);
    const lossy = this.#random.pick(0, 0, 0.2, 0.5);
    const refusing = this.#random.pick(0, 0.3, 0.7);
    let asked = 0;
    this.#cluster = fakeCluster({
      behaviour: (allocation) => this.#behaviour(allocation),
      lossy: () => !this.#calm && this.#random.chance(lossy),
      every: 8 * second,
      settings: {
        runNotifications: [{ workspace: 'ws-1' }],
        scheduling: { decidedAtOnce: this.#random.pick(0, 250), writtenAtOnce: this.#random.pick(1, 3, 64) },
      },
      delivery: recordingDelivery({
        answer: ({ body }) => {
          asked += 1;
          if (!this.#calm && asked > 1 && this.#random.chance(refusing)) return { status: 503 };
          this.#accepted.push(...messagesIn(body));
          return { status: 204 };
        },
      }),
    });
    this.#invariants = new Invariants(this.#cluster.storage);
  }

  async play(): Promise<Played> {
    await using cluster = this.#cluster;
    await this.#furnish();
    const acts = [
      ...[this.#register, this.#register, this.#register, this.#dispatch, this.#stop, this.#scale, this.#endOne],
      ...[this.#silence, this.#silence, this.#drain, this.#eligible, this.#promote, this.#collect, this.#jump],
    ];
    for (let at = 0; at < steps; at += 1) {
      await this.#random.pick(...acts).call(this);
      await cluster.clock.advance(this.#random.pick(0, second, 5 * second, 20 * second, minute));
      const faults = await this.#invariants.faults(this.#purged);
      this.#purged.clear();
      if (faults.length > 0) return { steps: this.#steps, faults };
    }
    await this.#rest();
    return {
      steps: this.#steps,
      faults: [...(await this.#invariants.faults(this.#purged)), ...(await this.#restFaults())],
    };
  }

  /** What an allocation does is decided by its ID, so that it is the same whenever it is looked at. */
  #behaviour(allocation: Allocation): Behaviour {
    const share = shareOf(`${this.#seed} ${allocation.ID}`);
    const after = Math.floor(share * 997_000) % (40 * second);
    if (allocation.JobType === 'batch' || allocation.JobType === 'sysbatch') {
      return { ends: share < 0.2 && !this.#calm ? 'failed' : 'complete', after };
    }
    return share < 0.25 && !this.#calm ? { ends: 'failed', after } : {};
  }

  async #furnish(): Promise<void> {
    const { engine } = this.#cluster;
    const workspace = { id: 'ws-1', name: 'main', organization: 'org' };
    (await putWorkspace(engine, hostPrincipal, workspace))._unsafeUnwrap();
    const triggers = ['run:created', 'run:planning', 'run:applying', 'run:completed', 'run:errored'];
    const attributes = { destinationType: 'generic', name: 'hook', url: 'https://h.example/', enabled: true, triggers };
    const configuration = { workspaceId: 'ws-1', attributes };
    (await createNotificationConfiguration(engine, hostPrincipal, configuration))._unsafeUnwrap();
    for (const id of nodeIds.slice(0, this.#random.between(1, nodeIds.length))) await this.#cluster.addNode(id);
    const group = {
      Name: 'app',
      Tasks: [{ Name: 'main', Driver: 'raw_exec', Config: { command: 'x' }, Resources: { CPU: 200 } }],
    };
    const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], ParameterizedJob: {}, TaskGroups: [group] };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  }

  #note(text: string): void {
    this.#steps.push(`${this.#cluster.clock.monotonic() / second} s: ${text}`);
  }

  async #register(): Promise<void> {
    const job = randomJob(this.#random, this.#random.pick(...jobIds));
    const registered = await registerJob(this.#cluster.engine, hostPrincipal, { job });
    this.#note(`register ${JSON.stringify(job)}: ${registered.isOk() ? 'done' : JSON.stringify(registered.error)}`);
  }

  async #dispatch(): Promise<void> {
    const count = this.#random.between(1, 6);
    for (let n = 0; n < count; n += 1) {
      const priority = this.#random.between(1, 100);
      await dispatchJob(this.#cluster.engine, hostPrincipal, { jobId: 'work', priority });
    }
    this.#note(`dispatch ${count}`);
  }

  async #stop(): Promise<void> {
    const jobId = this.#random.pick(...jobIds);
    const purge = this.#random.chance(0.3);
    await stopJob(this.#cluster.engine, hostPrincipal, { jobId, purge });
    if (purge) this.#purged.add(jobId);
    this.#note(`${purge ? 'purge' : 'stop'} ${jobId}`);
  }

  async #scale(): Promise<void> {
    const jobId = this.#random.pick(...jobIds);
    const count = this.#random.between(0, 6);
    await scaleJob(this.#cluster.engine, hostPrincipal, { jobId, group: 'app', count });
    this.#note(`scale ${jobId} to ${count}`);
  }

  async #endOne(): Promise<void> {
    const live = (await this.#cluster.rows(allocations)).filter((each) => !isTerminalAllocation(each));
    const one = live.length === 0 ? undefined : this.#random.pick(...live);
    if (one === undefined) return;
    await stopAllocation(this.#cluster.engine, hostPrincipal, { allocationId: one.ID });
    this.#note(`stop allocation ${one.ID} of ${one.Name}`);
  }

  async #silence(): Promise<void> {
    const id = this.#random.pick(...nodeIds);
    if (this.#silent.has(id)) this.#silent.delete(id);
    else this.#silent.add(id);
    this.#cluster.silence(id, this.#silent.has(id));
    this.#note(`${id} ${this.#silent.has(id) ? 'falls silent' : 'speaks again'}`);
  }

  async #drain(): Promise<void> {
    const nodeId = this.#random.pick(...nodeIds);
    const spec = this.#random.chance(0.6)
      ? { Deadline: this.#random.pick(-1, 30e9, 600e9), IgnoreSystemJobs: false }
      : null;
    await drainNode(this.#cluster.engine, hostPrincipal, { nodeId, spec, markEligible: spec === null });
    this.#note(`drain ${nodeId}: ${JSON.stringify(spec)}`);
  }

  async #eligible(): Promise<void> {
    const nodeId = this.#random.pick(...nodeIds);
    const eligibility = this.#random.pick('eligible', 'ineligible');
    await setNodeEligibility(this.#cluster.engine, hostPrincipal, { nodeId, eligibility });
    this.#note(`${nodeId} is ${eligibility}`);
  }

  async #promote(): Promise<void> {
    for (const { ID, Status } of await this.#cluster.rows(deployments)) {
      if (Status === 'running') await promoteDeployment(this.#cluster.engine, hostPrincipal, { deploymentId: ID });
    }
    this.#note('promote');
  }

  async #collect(): Promise<void> {
    await collectGarbage(this.#cluster.engine);
    this.#note('collect');
  }

  async #jump(): Promise<void> {
    const by = this.#random.pick(-hour, hour, -minute, minute);
    await this.#cluster.clock.step(by);
    this.#note(`the clock is set by ${by / second} s`);
  }

  /** All nodes are there, there is room for everything, and nothing fails. */
  async #rest(): Promise<void> {
    const { clock, engine } = this.#cluster;
    this.#calm = true;
    for (const id of nodeIds) this.#cluster.silence(id, false);
    const roomy = {
      Cpu: { CpuShares: 100_000, TotalCpuCores: 8, ReservableCpuCores: null },
      Memory: { MemoryMB: 100_000 },
      Disk: { DiskMB: 100_000 },
    };
    for (let n = 0; n < 6; n += 1) await this.#cluster.addNode(`roomy-${n}`, { NodeResources: roomy });
    await clock.advance(4 * minute);
    for (const { ID, Status } of await this.#cluster.rows(deployments)) {
      if (Status === 'running') await promoteDeployment(engine, hostPrincipal, { deploymentId: ID });
    }
    await clock.advance(6 * minute);
    this.#note('rest');
  }

  async #restFaults(): Promise<string[]> {
    const [all, wanted, made, asked, told, published] = [
      await this.#cluster.rows(allocations),
      await this.#cluster.rows(jobs),
      await this.#cluster.rows(deployments),
      await this.#cluster.rows(evaluations),
      await this.#cluster.rows(deliveries),
      await this.#cluster.rows(events),
    ];
    return [
      ...wanted.flatMap((job) => countFaults(job, all, made)),
      ...made.filter(isActiveDeployment).map(({ JobID, Status }) => `the deployment of ${JobID} is still ${Status}`),
      ...asked
        .filter(({ Status }) => Status === 'pending' || Status === 'blocked')
        .map(({ JobID, Status, TriggeredBy }) => `an evaluation of ${JobID} (${TriggeredBy}) is still ${Status}`),
      ...told.filter(({ state }) => state.type !== 'delivered').map(({ id, state }) => `${id} is ${state.type}`),
      ...messageFaults(published, this.#accepted),
    ];
  }
}

function countFaults(job: Job, all: readonly Allocation[], made: readonly Deployment[]): string[] {
  const own = all.filter((each) => each.JobID === job.ID && each.JobCreateIndex === job.CreateIndex);
  const live = own.filter((each) => !isTerminalAllocation(each));
  const group = job.TaskGroups[0];
  const stays = job.Type === 'service' || job.Type === 'system';
  if (job.Stop || !stays) return live.length === 0 ? [] : [`${job.ID} has ended and ${live.length} of it live`];
  if (job.Type === 'system') return [];
  const halted = made.some(
    ({ JobID, JobVersion, JobCreateIndex, Status }) =>
      JobID === job.ID && JobCreateIndex === job.CreateIndex && JobVersion === job.Version && Status === 'failed',
  );
  const limited = group?.ReschedulePolicy?.Unlimited !== true;
  if (halted || limited) return live.length <= (group?.Count ?? 0) ? [] : [`${job.ID} has ${live.length}`];
  const running = live.filter(
    ({ ClientStatus, JobVersion }) => ClientStatus === 'running' && JobVersion <= job.Version,
  );
  return running.length === group?.Count ? [] : [`${job.ID} wants ${group?.Count} and has ${running.length}`];
}

/** The run and the trigger of each notification in a message. */
function messagesIn(body: string | Uint8Array): string[] {
  const { run_id: run, notifications } = JSON.parse(String(body)) as {
    readonly run_id: string | null;
    readonly notifications: readonly { readonly trigger: string; readonly run_status: string | null }[];
  };
  return run === null ? [] : notifications.map(({ trigger, run_status: status }) => `${run} ${trigger} ${status}`);
}

/** Every event was accepted once, and those of a run in the order in which they happened. */
function messageFaults(published: readonly StoredEvent[], accepted: readonly string[]): string[] {
  const happened = published.flatMap(({ event, notified }) =>
    event.kind === 'run' ? notified.map(() => `${event.runId} ${event.trigger} ${event.runStatus}`) : [],
  );
  const runs = new Set([...happened, ...accepted].map(runOf));
  return [...runs].flatMap((run) => {
    const [wanted, came] = [happened, accepted].map((all) => all.filter((each) => runOf(each) === run).join(', '));
    return wanted === came ? [] : [`of a run happened [${wanted}], and [${came}] was accepted`];
  });
}

function runOf(message: string): string {
  return message.split(' ')[0] ?? '';
}
