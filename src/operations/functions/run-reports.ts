import { declarations } from '../../functions/declaration.js';
import { type FunctionPolicy, runsHere } from '../../functions/define-function.js';
import {
  afterError,
  afterWait,
  type FunctionReports,
  functionReports,
  heldUntil,
  messageOf,
  mostEvents,
  type ReportedRun,
  type RunTrigger,
  reported,
} from '../../functions/reports.js';
import { type Outcome, outcomeIn, runId, type StoredRun } from '../../functions/run.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import { outcomeWords, type RunOutcome } from '../../jobs/runs/job-run.js';
import { functionLabels } from '../../metrics/instruments.js';
import { configurations } from '../../notifications/configurations/configuration.js';
import type { RunEvent } from '../../notifications/events/event.js';
import { isSubscribed } from '../../notifications/explain.js';
import { runUrl } from '../../notifications/payloads/render-payload.js';
import { workspaces } from '../../notifications/workspace.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { publishNotificationEvent } from '../records/publish-notification-event.js';
import { withoutSecretsOf } from '../records/stored-secrets.js';
import type { Transaction } from '../write-transaction.js';

/** A run, or a launch that made none, as its event names it. */
interface Subject {
  readonly id: string;
  readonly function: string;
  readonly createdAt: Instant;
  readonly trace?: string | undefined;
}

interface Report {
  readonly trigger: RunTrigger;
  readonly status: 'pending' | 'applying' | 'applied' | 'errored' | 'canceled';
  readonly title: string;
  readonly message: string;
  readonly outcome?: RunOutcome;
}

const outcomeOf: Readonly<Record<Outcome, RunOutcome>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'stopped',
  timed_out: 'timed_out',
};

const reportOf = {
  created: { status: 'pending', title: 'Run Created' },
  applying: { status: 'applying', title: 'Run Applying' },
  completed: { status: 'applied', title: 'Run Applied', outcome: outcomeOf.succeeded },
} as const;

const noneUnheard: ReadonlyMap<string, string> = new Map();

/** What the runs of one write report to workspaces: their events are durable with the change that they are about, or not at all. */
export class RunReports {
  /** Functions whose workspace does not exist, with its ID. */
  unheard: ReadonlyMap<string, string> = noneUnheard;
  readonly #tx: Transaction;
  // Made when they are needed: most writes report nothing.
  #rows: Map<string, FunctionReports | undefined> | undefined;
  /** Workspaces that exist, triggers that a workspace asks for, and those that it does not. */
  #known: Map<string, boolean> | undefined;
  #events = 0;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  static in(tx: Transaction): RunReports {
    return tx.part(RunReports);
  }

  /** What is stored about a function; undefined when it never had a workspace and was never late. */
  of(name: string): FunctionReports | undefined {
    // A table that was never written has no rows.
    if (this.#rows === undefined && this.#tx.tableIndex(functionReports) <= 1) return undefined;
    this.#rows ??= new Map();
    if (this.#rows.has(name)) return this.#rows.get(name);
    const row = this.#tx.get(functionReports, [name])?.record;
    this.#rows.set(name, row);
    return row;
  }

  put(row: FunctionReports): void {
    this.#rows ??= new Map();
    this.#rows.set(row.function, row);
    this.#tx.put(functionReports, row);
  }

  /**
   * Stores the workspace that the code names, unless a later version of it has named one. Gives the ID of a workspace that does not
   * exist.
   */
  declare(policy: FunctionPolicy): string | undefined {
    const { name, version, notify } = policy;
    const known = this.of(name);
    const isOurs = known === undefined || version >= known.version;
    const workspace = notify ?? null;
    const isSame =
      known === undefined ? workspace === null : known.workspace === workspace && known.version === version;
    if (runsHere(policy) && isOurs && !isSame) this.put({ ...known, function: name, version, workspace });
    return notify === undefined || this.#exists(notify) ? undefined : notify;
  }

  /** A run that may have been started in the same write. */
  created(run: StoredRun): void {
    if (this.#tx.hears('function.enqueued'))
      this.#tx.emit('function.enqueued', { function: run.function, runId: runId(run), dueAt: run.dueAt });
    this.#maySend('run:created', run, reportOf.created);
    if (run.state === 'running') this.started(run);
  }

  started(run: StoredRun): void {
    this.resumed(run);
    if (run.starts > 1) return;
    this.#maySend('run:applying', run, reportOf.applying);
  }

  /** A run whose start an earlier write has stored, and reported if it had to. */
  resumed(run: StoredRun): void {
    if (!this.#tx.hears('function.started')) return;
    const { function: name, attempt, startedAt, dueAt } = run;
    const waited = Math.max(0, (startedAt ?? dueAt) - dueAt);
    this.#tx.emit('function.started', { function: name, runId: runId(run), attempt, waited });
  }

  ended(run: StoredRun): void {
    if (this.#tx.hears('function.ended')) this.#emitEnd(run);
    if (run.state === 'succeeded') {
      this.#maySend('run:completed', run, reportOf.completed);
      return;
    }
    const row = this.#heard(run.function);
    if (row === undefined) return;
    const { group, sends } = afterError(row.errors, reported(run), this.#tx.now);
    this.put({ ...row, errors: group });
    if (sends !== undefined) this.#error(row, sends.run, sends.others);
  }

  #emitEnd(run: StoredRun): void {
    const { function: name, attempt, startedAt, endedAt, error } = run;
    const took = startedAt === null || endedAt === null ? null : Math.max(0, endedAt - startedAt);
    const outcome = outcomeIn(run);
    const failure = outcome === 'succeeded' ? null : (error?.name ?? null);
    this.#tx.emit('function.ended', { function: name, runId: runId(run), outcome, attempt, took, error: failure });
  }

  /** Sends what was held back and whose time has come. Gives when the next one has. */
  wait(): Instant {
    const { now } = this.#tx;
    if (this.#tx.tableIndex(functionReports) <= 1) return Number.POSITIVE_INFINITY;
    for (const { record: row } of this.#tx.list(functionReports, { index: 'held', to: [now + 1], limit: mostEvents })) {
      const { group, sends } = afterWait(row.errors ?? { sent: 0, sentAt: now, held: 0 }, now);
      this.put({ ...row, errors: group });
      const heard = this.#heard(row.function);
      if (sends !== undefined && heard !== undefined) this.#error(heard, sends.run, sends.others);
    }
    const [next] = this.#tx.list(functionReports, { index: 'held', limit: 1 });
    const errors = next?.record.errors;
    return errors === undefined ? Number.POSITIVE_INFINITY : heldUntil(errors);
  }

  /** A due run or launch of a function has waited for too long. */
  late(
    subject: Subject,
    reason: string,
    { since, hasRun }: { readonly since: Instant; readonly hasRun: boolean },
  ): void {
    const id = hasRun ? subject.id : null;
    this.#tx.emit('function.late', { function: subject.function, runId: id, since, reason });
    const row = this.#heard(subject.function);
    if (row === undefined) return;
    const message = `${subject.function}: ${reason}`;
    this.#publish(row, subject, { trigger: 'run:needs_attention', status: 'pending', title: 'Run Delayed', message });
  }

  #error(row: FunctionReports, run: ReportedRun, others: number): void {
    const isCancelled = run.state === 'cancelled';
    this.#publish(row, subjectOf(run), {
      trigger: 'run:errored',
      status: isCancelled ? 'canceled' : 'errored',
      title: isCancelled ? 'Run Canceled' : 'Run Errored',
      message: withoutSecretsOf(this.#tx.sealing, this.#tx, row.workspace ?? undefined, messageOf(run, others)),
      outcome: outcomeOf[outcomeIn(run)],
    });
  }

  /** An event that is written only for who asks for it. Beyond the bound of a write it is counted in the next one. */
  #maySend(trigger: RunTrigger, run: ReportedRun, report: Omit<Report, 'trigger' | 'message'>): void {
    const row = this.#heard(run.function);
    if (row === undefined || !this.#isAsked(row.workspace ?? '', trigger)) return;
    const others = row.unsent?.[trigger] ?? 0;
    if (this.#events >= mostEvents) {
      this.put({ ...row, unsent: { ...row.unsent, [trigger]: others + 1 } });
      return;
    }
    if (others > 0) this.put({ ...row, unsent: { ...row.unsent, [trigger]: 0 } });
    const named = trigger === 'run:created' ? { ...run, attempt: 0 } : run;
    this.#publish(row, subjectOf(run), { ...report, trigger, message: messageOf(named, others) });
  }

  /** The row of a function that has a workspace. */
  #heard(name: string): FunctionReports | undefined {
    const row = this.of(name);
    if (row === undefined || row.workspace === null) return undefined;
    if (this.#exists(row.workspace)) return row;
    this.unheard = new Map([...this.unheard, [name, row.workspace]]);
    return undefined;
  }

  #exists(workspace: string): boolean {
    return this.#memo(workspace, () => this.#tx.get(workspaces, [workspace]) !== undefined);
  }

  #isAsked(workspace: string, trigger: RunTrigger): boolean {
    return this.#memo(`${workspace}/${trigger}`, () =>
      this.#tx
        .list(configurations, { index: 'by_workspace', prefix: [workspace] })
        .some(({ record }) => record.enabled && isSubscribed(trigger, record)),
    );
  }

  #memo(key: string, read: () => boolean): boolean {
    this.#known ??= new Map();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const fresh = read();
    this.#known.set(key, fresh);
    return fresh;
  }

  #namespaceOf(name: string): string {
    return this.#tx.get(declarations, [name])?.record.namespace ?? defaultNamespaceName;
  }

  #publish(row: FunctionReports, subject: Subject, report: Report): void {
    const tx = this.#tx;
    const { now, ids, settings } = tx;
    const { trigger, status, title, message, outcome } = report;
    const job = { namespace: this.#namespaceOf(subject.function), id: subject.function };
    const link = { ...job, jobId: job.id, runId: subject.id };
    this.#events += 1;
    const event: RunEvent = {
      kind: 'run',
      trigger,
      message: title,
      runId: subject.id,
      runUrl: runUrl(settings.jobs.runUrl, settings.notifications, link),
      runMessage: message,
      runCreatedAt: isoFromInstant(subject.createdAt),
      runCreatedBy: null,
      runStatus: status,
      runUpdatedAt: isoFromInstant(now),
      runUpdatedBy: tx.actor ?? null,
      speculative: false,
      job: outcome === undefined ? job : { ...job, outcome: { name: outcome, text: outcomeWords[outcome] } },
    };
    const environment = { now, ids, settings, trace: subject.trace ?? tx.trace };
    const published = publishNotificationEvent(tx, environment, { ...event, workspaceId: row.workspace ?? '' });
    // The workspace exists, and there is no key that could be used twice.
    if (published.isErr()) return;
    const { eventId, workspaceId, deliveryIds } = published.value;
    tx.emit('notification.event', { eventId, workspaceId, trigger, deliveryIds });
  }
}

const subjectOf = (run: ReportedRun): Subject => ({
  id: runId(run),
  function: run.function,
  createdAt: run.enqueuedAt,
  trace: run.trace,
});

/** Alerts on an increase miss the first run of a series that does not begin at zero. */
export function countFromZero({ observer }: EngineContext, names: Iterable<string>): void {
  const label = functionLabels();
  for (const name of names)
    for (const outcome of Object.keys(outcomeOf))
      observer.count('signalbox.function.runs', 0, { function: label(name), outcome });
}

/** Stores the workspaces that the code names. Gives those that do not exist, by function. */
export function declareReports(tx: Transaction, policies: Iterable<FunctionPolicy>): ReadonlyMap<string, string> {
  const unheard = new Map<string, string>();
  for (const policy of policies) {
    const missing = RunReports.in(tx).declare(policy);
    if (missing !== undefined) unheard.set(policy.name, missing);
  }
  return unheard;
}

export function warnOfWorkspace({ logger }: EngineContext, name: string, workspace: string): void {
  const message =
    'Runs of a function notify nobody: its workspace does not exist. Create it with putWorkspace, or change notify';
  logger.warn({ function: name, workspace }, message);
}
