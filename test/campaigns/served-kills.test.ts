import type { ResultAsync } from 'neverthrow';
import { afterEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.js';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';

/*
 * `signalbox serve` is killed again and again, while clients register, dispatch and stop jobs over HTTP, commands run, and
 * a receiver is told of them. What was acknowledged must be there at the end, each run must have run once, and the
 * receiver must have heard of each of its steps in their order. `SIGNALBOX_SERVED_KILLS=1000` for a longer run; without it a
 * machine with much else to do is killed less often.
 */
const asked = process.env['SIGNALBOX_SERVED_KILLS'];
const kills = Number(asked ?? 30);
const fewest = asked === undefined ? 8 : kills;
/** Milliseconds. */
const budget = 20_000;

let installed: Installation | undefined;
afterEach(async () => {
  endAll();
  await installed?.remove();
});

test(`${kills} kills of a server lose and double nothing`, { timeout: 90_000 + kills * 10_000 }, async () => {
  installed = await installation();
  const first = await installed.serve();
  await installed.prepare(first.box);
  const crowd = new Crowd(installed, first);
  const begun = performance.now();
  for (let life = 0; life < kills && (life < fewest || performance.now() - begun < budget); life += 1) {
    await crowd.live(life);
  }
  const faults = await crowd.faults();
  if (asked !== undefined) console.info(crowd.figures());
  expect(faults).toEqual([]);
});

/** What clients were told, and the server that they talk to. */
class Crowd {
  readonly #installed: Installation;
  #served: Served | undefined;
  #acknowledged = 0;
  /** Numbers of dispatches that were acknowledged, and their jobs. */
  readonly #dispatched = new Map<number, string>();
  /** The highest number that was acknowledged as the state of each job. */
  readonly #registered = new Map<string, number>();
  readonly #stopped = new Set<string>();
  readonly #clients: Promise<void>[];
  readonly #heard = new Map<string, readonly string[]>();
  /** Number of requests of the receiver that are in `#heard`. */
  #parsed = 0;
  #busy = true;
  #next = 0;

  constructor(installed: Installation, served: Served) {
    this.#installed = installed;
    this.#served = served;
    this.#clients = [this.#dispatch(), this.#dispatch(), this.#register('a'), this.#register('b'), this.#stop()];
  }

  /** One life of a server: it is killed at another moment each time, now by what clients, now by what tasks or receivers saw. */
  async live(life: number): Promise<void> {
    const { receiver } = this.#installed;
    this.#served ??= await this.#installed.serve();
    const { child } = this.#served;
    const seen = {
      acknowledged: this.#acknowledged,
      marks: markCount(this.#installed),
      requests: receiver.requests.length,
    };
    const more = 1 + ((life * 7) % 12);
    // Evaluations and deliveries go on when the leases of the server before have run out: most lives are too short for it.
    const kind = life % 10;
    await eventually(8000, () => {
      if (kind === 4) return markCount(this.#installed) >= seen.marks + more;
      if (kind === 9) return receiver.requests.length >= seen.requests + more;
      return this.#acknowledged >= seen.acknowledged + more;
    });
    await pause(life % 5);
    child.process.kill('SIGKILL');
    this.#served = undefined;
    await child.ended;
  }

  /** What is not as it was acknowledged, after a last life that nobody ends. */
  async faults(): Promise<string[]> {
    this.#served = await this.#installed.serve();
    this.#busy = false;
    await Promise.all(this.#clients);
    const { box } = this.#served;
    const faults: string[] = [];
    const over = async (): Promise<boolean> => {
      const { Children } = (await box.jobs.summary('work'))._unsafeUnwrap().value ?? {};
      return Children?.Pending === 0 && Children.Running === 0;
    };
    if (!(await eventually(30_000, over))) faults.push('runs are left that never end');
    faults.push(...(await this.#unlike(box)), ...this.#doubled());
    await this.#allTold();
    faults.push(...this.#untold(), ...this.#disordered());
    return [...faults, ...(await this.#eventsOfWrong(box))];
  }

  /** How much there was to lose. */
  figures(): string {
    const { receiver } = this.#installed;
    return (
      `${this.#acknowledged} acknowledgements, ${this.#dispatched.size} runs, ` +
      `${this.#stopped.size} stops, ${receiver.requests.length} notifications`
    );
  }

  /** Asks until it is acknowledged, whichever server is there. */
  async #insist<T>(ask: (box: Client) => ResultAsync<T, unknown>): Promise<T> {
    for (;;) {
      const served = this.#served;
      if (served !== undefined) {
        const answered = await ask(served.box);
        if (answered.isOk()) {
          this.#acknowledged += 1;
          return answered.value;
        }
      }
      await pause(5);
    }
  }

  async #dispatch(): Promise<void> {
    while (this.#busy) {
      const number = this.#next++;
      const options = { meta: { n: String(number) }, idempotencyToken: `n-${number}` };
      const { dispatchedJobId } = await this.#insist((box) => box.jobs.dispatch('work', options));
      this.#dispatched.set(number, dispatchedJobId);
      await pause(10);
    }
  }

  async #register(name: string): Promise<void> {
    for (let number = 0; this.#busy; number += 1) {
      await this.#insist((box) => box.jobs.register(placeless(name, number)));
      this.#registered.set(name, number);
      await pause(10);
    }
  }

  async #stop(): Promise<void> {
    for (let number = 0; this.#busy; number += 1) {
      const id = `stopped-${number}`;
      await this.#insist((box) => box.jobs.register(placeless(id, 0)));
      await this.#insist((box) => box.jobs.stop(id));
      this.#stopped.add(id);
      await pause(10);
    }
  }

  async #unlike(box: Client): Promise<string[]> {
    const faults: string[] = [];
    const jobs = (await box.jobs.list({ meta: true }))._unsafeUnwrap().value.items;
    const byId = new Map(jobs.map((job) => [job.ID, job]));
    for (const id of this.#stopped) if (byId.get(id)?.Stop !== true) faults.push(`${id} is not stopped`);
    for (const [id, number] of this.#registered) {
      if (!(Number(byId.get(id)?.Meta?.['n']) >= number)) faults.push(`${id} lost registration ${number}`);
    }
    for (const id of this.#dispatched.values()) {
      if (byId.get(id)?.Status !== 'dead') faults.push(`${id} is ${byId.get(id)?.Status ?? 'lost'}`);
    }
    return faults;
  }

  #doubled(): string[] {
    const marks = this.#installed.marks();
    const known = [...marks.keys()].filter((run) => !this.#dispatched.has(Number(run)));
    const wrong = [...this.#dispatched.keys()].filter((number) => marks.get(String(number))?.join() !== 'begin,end');
    return [
      ...known.map((run) => `run ${run} was never dispatched`),
      ...wrong.map((number) => `run ${number} did ${marks.get(String(number))?.join() ?? 'nothing'}`),
    ];
  }

  /** What the nodes say of the runs that did not do what they should. */
  async #eventsOfWrong(box: Client): Promise<string[]> {
    const marks = this.#installed.marks();
    const wrong = [...this.#dispatched].filter(([number]) => marks.get(String(number))?.join() !== 'begin,end');
    const told = wrong.map(async ([number, id]) => {
      const found = (await box.jobs.allocations(id))._unsafeUnwrap().value;
      return found.flatMap(({ ID, ClientStatus, TaskStates }) =>
        (TaskStates?.['main']?.Events ?? []).map(
          ({ Time, Type, DisplayMessage }) => `run ${number}, ${ID} ${ClientStatus}: ${Time} ${Type} ${DisplayMessage}`,
        ),
      );
    });
    return (await Promise.all(told)).flat();
  }

  /** Many lives leave many notifications: as long as some arrive within 15 s, the others are waited for. */
  async #allTold(): Promise<void> {
    const { requests } = this.#installed.receiver;
    for (let before = -1; before < requests.length && this.#untold().length > 0; ) {
      before = requests.length;
      await eventually(15_000, () => requests.length >= before + 1000 || this.#untold().length === 0);
    }
  }

  /** The triggers that the receiver got for the run of each job, in order. */
  #heardByNow(): ReadonlyMap<string, readonly string[]> {
    const { requests } = this.#installed.receiver;
    for (const { body } of requests.slice(this.#parsed)) {
      const { run_id: run, run_message: message, notifications } = JSON.parse(body);
      if (run === null) continue;
      const job = message.replace('Job ', '');
      this.#heard.set(job, [...(this.#heard.get(job) ?? []), notifications[0].trigger]);
    }
    this.#parsed = requests.length;
    return this.#heard;
  }

  #untold(): string[] {
    const heard = this.#heardByNow();
    return [...this.#dispatched.values()].flatMap((id) => {
      const missing = steps.filter((step) => !heard.get(id)?.includes(step));
      return missing.length === 0 ? [] : [`nobody was told of ${missing.join()} of ${id}`];
    });
  }

  /** Steps that came first before an earlier one. A repetition of one that had come is no fault. */
  #disordered(): string[] {
    return [...this.#heardByNow()].flatMap(([id, heard]) => {
      const first = [...new Set(heard)];
      return first.join() === steps.join() ? [] : [`${id} was told as ${first.join()}`];
    });
  }
}

const steps = ['run:created', 'run:planning', 'run:applying', 'run:completed'];

function markCount(installed: Installation): number {
  let count = 0;
  for (const marks of installed.marks().values()) count += marks.length;
  return count;
}

/** A job that waits for a node that there is not. */
function placeless(id: string, number: number): JobInput {
  const group = { Name: 'app', Tasks: [{ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } }] };
  return { ID: id, Type: 'batch', Datacenters: ['nowhere'], Meta: { n: String(number) }, TaskGroups: [group] };
}
