import { okAsync, ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { box, type EntryOf, inTurn, type ValueOf } from '../app/engine.js';
import { prefer, preferences } from '../app/preferences.js';
import { useRead } from '../app/read.js';
import { may, mayInArea, rights, workspaceRight } from '../app/rights.js';
import { addressOf, Link } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { serverNow, Time } from '../app/time.js';
import { causeOf } from '../job-rules.js';
import { ask } from '../parts/dialog.js';
import { Mark } from '../parts/marks.js';
import { Plot } from '../parts/plot.js';
import { Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { counted } from '../rules/durations.js';
import { isPromotable, promote } from './job/deployments.js';
import { declaredMeta } from './job/dispatch.js';

/** The first screen: what needs a person, with the reason and the next action; then what is going on. */
export function NowScreen() {
  const namespace = namespaceWanted();
  const readsJobs = may('jobs.read', namespace);
  return (
    <Screen title="Now">
      <section class="panel">
        <h2>Needs you</h2>
        {readsJobs && <Failures namespace={namespace} />}
        {readsJobs && <Promotions namespace={namespace} />}
        {readsJobs && <Waiting namespace={namespace} />}
        {mayInArea('node', 'read') && <Nodes />}
        <Destinations />
        <p class="hint">Lines go when their reason does. Nothing else needs you.</p>
      </section>
      <div class="columns">
        {mayInArea('agent', 'read') && <LastHour />}
        {readsJobs && <NextLaunches namespace={namespace} />}
      </div>
    </Screen>
  );
}

interface LineProps {
  /** Names the reason: a line that was hidden appears again when the reason differs. */
  readonly id: string;
  readonly mark: ComponentChildren;
  readonly children: ComponentChildren;
  readonly actions: ComponentChildren;
}

const anHour = 3_600_000;

function Line({ id, mark, children, actions }: LineProps) {
  const { snoozed } = preferences.value;
  const until = snoozed[id] ?? 0;
  if (until > serverNow.value) return null;
  const snooze = (): void => {
    const now = serverNow.peek();
    const kept = Object.entries(snoozed).filter(([, time]) => time > now);
    prefer({ snoozed: { ...Object.fromEntries(kept), [id]: now + anHour } });
    announce('Hidden for an hour', { label: 'Undo', run: () => prefer({ snoozed: Object.fromEntries(kept) }) });
  };
  return (
    <div class="line">
      {mark}
      <span class="what">{children}</span>
      <span class="actions">
        {actions}
        <button type="button" class="quiet" onClick={snooze} title="Hide this line for an hour">
          Later
        </button>
      </span>
    </div>
  );
}

type Cause = ValueOf<typeof box.jobs.failures>['causes'][number];

/** Runs that failed alike in the last day. */
function Failures({ namespace }: { readonly namespace: string }) {
  const failures = useRead(`now:failures:${namespace}`, {
    topics: ['Job', 'Allocation'],
    every: 30_000,
    read: ({ signal }) => box.jobs.failures({ namespace, signal }),
  });
  return (
    <View reading={failures} what="failed runs" needs="read-job">
      {({ causes, isCut }) => (
        <>
          {causes.slice(0, 10).map((cause) => (
            <Failure key={`${cause.outcome} ${cause.exitCode} ${cause.cause}`} cause={cause} />
          ))}
          {(isCut || causes.length > 10) && (
            <p class="hint">
              The ten most frequent causes of the last day{isCut ? ', counted over the latest failures' : ''}.
            </p>
          )}
        </>
      )}
    </View>
  );
}

function Failure({ cause }: { readonly cause: Cause }) {
  const [first] = cause.jobs;
  if (first === undefined) return null;
  const { namespace, jobId } = first;
  const others = cause.jobs.length - 1;
  const isFunction = functionOf(cause);
  const address = isFunction
    ? addressOf(['functions', namespace, jobId], { state: 'failed' })
    : addressOf(['jobs', namespace, jobId, 'runs'], { cause: cause.cause, outcome: cause.outcome });
  return (
    <Line
      id={`failure ${namespace}/${jobId} ${cause.cause}`}
      mark={<Mark mark="failed" word={jobId} />}
      actions={
        <>
          <Link class="button" to={address}>
            See the runs
          </Link>
          {!isFunction && may('jobs.dispatch', namespace) && cause.example.id !== jobId && (
            <RunAgain namespace={namespace} jobId={jobId} cause={cause} />
          )}
        </>
      }
    >
      {counted(cause.count, 'run')} failed alike{others > 0 ? `, also of ${counted(others, 'other')}` : ''}, last{' '}
      <Time at={cause.lastAt} /> — “
      <Text of={cause.example.message || cause.outcome.replaceAll('_', ' ')} />”
    </Line>
  );
}

/** Runs of functions have other IDs than jobs. */
function functionOf({ example }: Cause): boolean {
  return /^fr-/.test(example.id);
}

/** Dispatches the failed instances of one cause again, with their inputs. */
function RunAgain({
  namespace,
  jobId,
  cause,
}: {
  readonly namespace: string;
  readonly jobId: string;
  readonly cause: Cause;
}) {
  const open = async (): Promise<void> => {
    const runs = await box.jobs.runs({ namespace, jobId, outcome: cause.outcome, perPage: 1000 });
    if (runs.isErr()) return announce(`The runs cannot be read: ${runs.error.type}`);
    const alike = runs.value.value.items.filter(
      (run) => run.jobId !== run.parentId && causeOf(run.failure?.message ?? '') === cause.cause,
    );
    const kept = await ResultAsync.combine(alike.map((run) => box.jobs.read(run.jobId, { namespace })));
    const instances = kept.isErr()
      ? []
      : kept.value.flatMap(({ value }) => (value?.Dispatched === true ? [value] : []));
    if (instances.length === 0)
      return announce('Their inputs are not kept any more: the instances have been collected.');
    ask({
      title: `Run ${counted(instances.length, 'instance')} again`,
      body: (
        <p>
          Dispatches {counted(instances.length, 'new instance')} of <Text of={jobId} /> with the inputs of those that
          failed alike
          {instances.length < alike.length
            ? `; the inputs of ${counted(alike.length - instances.length, 'other')} are not kept any more`
            : ''}
          .
        </p>
      ),
      action: 'Run again',
      run: () =>
        inTurn(instances, (instance) =>
          box.jobs.dispatch(jobId, {
            namespace,
            meta: declaredMeta(instance),
            ...(instance.Payload ? { payload: instance.Payload } : {}),
          }),
        ),
      after: () => announce(`${counted(instances.length, 'instance')} dispatched`),
    });
  };
  return (
    <button type="button" onClick={() => void open()}>
      Run all again…
    </button>
  );
}

function Promotions({ namespace }: { readonly namespace: string }) {
  const deployments = useRead(`now:deployments:${namespace}`, {
    topics: ['Deployment', 'Allocation'],
    read: ({ signal }) => box.deployments.list({ namespace, signal, filter: 'Status == "running"', perPage: 100 }),
  });
  const waiting = deployments.state.value.value?.items.filter(isPromotable) ?? [];
  return (
    <>
      {waiting.map((deployment) => (
        <Line
          key={deployment.ID}
          id={`promotion ${deployment.ID}`}
          mark={<Mark mark="degraded" word={deployment.JobID} />}
          actions={
            <>
              <Link class="button" to={addressOf(['jobs', deployment.Namespace, deployment.JobID])}>
                Review
              </Link>
              {may('deployments.promote', deployment.Namespace) && (
                <button
                  type="button"
                  class="primary"
                  onClick={() => void promote(deployment).then(deployments.refresh)}
                >
                  Promote
                </button>
              )}
            </>
          }
        >
          v{deployment.JobVersion} waits for promotion: its canaries are healthy
        </Line>
      ))}
    </>
  );
}

type Evaluation = EntryOf<typeof box.evaluations.list>;
/** Reasons that are read for the first screen. */
const mostReasons = 8;

function Waiting({ namespace }: { readonly namespace: string }) {
  const blocked = useRead(`now:waiting:${namespace}`, {
    topics: ['Evaluation', 'Job'],
    read: ({ signal }) =>
      box.evaluations
        .list({ namespace, signal, status: 'blocked', perPage: 200 })
        .andThen(({ value: { items, nextToken } }) => {
          const jobs = new Map(
            items.filter(({ JobID }) => JobID !== '').map((each) => [`${each.Namespace}/${each.JobID}`, each]),
          );
          const shown = [...jobs.values()].slice(0, mostReasons);
          return ResultAsync.combine(shown.map((evaluation) => reasonOf(evaluation, signal))).map((lines) => ({
            lines: lines.flat(),
            others: jobs.size - shown.length,
            isCut: nextToken !== '',
          }));
        }),
  });
  const { value } = blocked.state.value;
  return (
    <>
      {value?.lines.map((line) => (
        <Line
          key={`${line.namespace}/${line.job}/${line.group}`}
          id={`waiting ${line.namespace}/${line.job}/${line.group}`}
          mark={<Mark mark="waiting" word={line.job} />}
          actions={
            <>
              <Link class="button" to={addressOf(['jobs', line.namespace, line.job])}>
                Why
              </Link>
              {mayInArea('node', 'read') && (
                <Link class="button" to={addressOf(['nodes'])}>
                  Nodes
                </Link>
              )}
            </>
          }
        >
          <Text of={line.group} />: {line.waiting} {line.waiting === 1 ? 'waits' : 'wait'} for room.{' '}
          <Text of={line.reason} />
        </Line>
      ))}
      {value !== undefined && value.others > 0 && (
        <p class="hint">
          {counted(value.others, 'other job waits', 'other jobs wait')} for room{value.isCut ? ', at least' : ''}.
        </p>
      )}
    </>
  );
}

interface WaitingLine {
  readonly namespace: string;
  readonly job: string;
  readonly group: string;
  readonly waiting: number;
  readonly reason: string;
}

function reasonOf(
  { Namespace, JobID }: Evaluation,
  signal: AbortSignal,
): ResultAsync<readonly WaitingLine[], { readonly type: string }> {
  return box.jobs
    .placement(JobID, { namespace: Namespace, nodes: 1, signal })
    .map(({ groups }) =>
      groups
        .filter(({ waiting }) => waiting > 0)
        .map(({ group, waiting, summary }) => ({ namespace: Namespace, job: JobID, group, waiting, reason: summary })),
    )
    .orElse(() => okAsync([]));
}

function Nodes() {
  const nodes = useRead('now:nodes', {
    topics: ['Node'],
    read: ({ signal }) =>
      box.nodes.list({ signal, filter: 'Status != "ready" or SchedulingEligibility == "ineligible"', perPage: 50 }),
  });
  return (
    <>
      {nodes.state.value.value?.items.map((node) => (
        <Line
          key={node.ID}
          id={`node ${node.ID} ${node.Status} ${node.SchedulingEligibility}`}
          mark={<Mark mark={node.Status === 'ready' ? 'off' : 'lost'} word={node.Name} />}
          actions={
            <Link class="button" to={addressOf(['nodes', node.ID])}>
              The node
            </Link>
          }
        >
          {node.Status === 'ready'
            ? node.Drain
              ? 'is being drained'
              : 'takes no new allocations'
            : `is ${node.Status}`}
        </Line>
      ))}
    </>
  );
}

/** The most workspaces whose destinations are examined. */
const mostWorkspaces = 20;

function Destinations() {
  const all = Object.entries(rights.value?.workspaces ?? {}).filter(([id]) => workspaceRight(id) === 'admin');
  const shown = all.slice(0, mostWorkspaces);
  const configurations = useRead(`now:destinations:${shown.map(([id]) => id).join()}`, {
    every: 15_000,
    read: ({ signal }) =>
      ResultAsync.combine(
        shown.map(([id, { name }]) =>
          box.notifications
            .list(id, { signal })
            .map(({ items }) =>
              items
                .filter(({ enabled, health }) => enabled && (health.failingSince !== null || health.paused))
                .map((each) => ({ each, workspace: name })),
            )
            .orElse(() => okAsync([])),
        ),
      ).map((lists) => lists.flat()),
  });
  return (
    <>
      {configurations.state.value.value?.map(({ each: { id, name, workspaceId, health }, workspace }) => (
        <Line
          key={id}
          id={`destination ${id} ${health.failingSince}`}
          mark={<Mark mark={health.paused ? 'waiting' : 'failed'} word={name} />}
          actions={
            <Link class="button" to={addressOf(['notify', workspaceId, 'c', id])}>
              Deliveries
            </Link>
          }
        >
          {health.paused ? (
            'is paused'
          ) : (
            <>
              fails since <Time at={health.failingSince} />
            </>
          )}
          {health.backlog > 0 ? `, ${health.backlog} wait` : ''}
          {health.nextProbeAt !== null &&
            (Date.parse(health.nextProbeAt) > serverNow.value ? (
              <>
                , next try <Time at={health.nextProbeAt} />
              </>
            ) : (
              ', the next delivery is a trial'
            ))}{' '}
          <small>
            <Text of={workspace} />
          </small>
        </Line>
      ))}
      {all.length > shown.length && (
        <p class="hint">Destinations of the first {mostWorkspaces} workspaces are examined.</p>
      )}
    </>
  );
}

function LastHour() {
  const series = useRead('now:series', { every: 10_000, read: ({ signal }) => box.system.series({ signal }) });
  return (
    <section class="panel">
      <h2>Last hour</h2>
      <View reading={series} what="the measurements">
        {({ series: all }) => {
          const of = (
            name: string,
            accept: (labels: Readonly<Record<string, string>>) => boolean = () => true,
          ): readonly number[] =>
            all
              .filter((each) => each.name === name && accept(each.labels))
              .reduce<readonly number[]>((sum, { counts }) => counts.map((count, at) => count + (sum[at] ?? 0)), []);
          const plot = (title: string, name: string, label: string, bad: readonly string[]) => {
            const good = of(name, (labels) => !bad.includes(labels[label] ?? ''));
            const failed = of(name, (labels) => bad.includes(labels[label] ?? ''));
            return (
              <Plot
                name={title}
                counts={good}
                failed={failed}
                sum={`${total(good) + total(failed)}, ${total(failed)} failed`}
              />
            );
          };
          return (
            <div class="stack">
              {plot('Allocations', 'signalbox.allocations', 'client_status', ['failed', 'lost'])}
              {plot('Runs of functions', 'signalbox.function.runs', 'outcome', ['failed', 'timed_out'])}
              {plot('Deliveries', 'signalbox.notification.attempts', 'outcome', ['failure', 'failed'])}
            </div>
          );
        }}
      </View>
      <p class="hint">Measured by the process that answers.</p>
    </section>
  );
}

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function NextLaunches({ namespace }: { readonly namespace: string }) {
  const schedules = useRead(`now:schedules:${namespace}`, {
    topics: ['Job'],
    every: 60_000,
    read: ({ signal }) => box.jobs.schedules({ namespace, launches: 1, signal }),
  });
  return (
    <section class="panel">
      <h2>Next launches</h2>
      <View
        reading={schedules}
        what="the schedules"
        needs="read-job"
        isEmpty={({ schedules: list }) => list.length === 0}
        empty={<p>No job is launched by the clock.</p>}
      >
        {({ schedules: list }) => (
          <>
            {list.slice(0, 6).map(({ namespace: of, jobId, launches: [next] }) => (
              <div class="line" key={`${of}/${jobId}`}>
                <Link class="what" to={addressOf(['jobs', of, jobId, 'schedule'])}>
                  <Text of={jobId} />
                </Link>
                {next !== undefined && <Time at={next.at} />}
              </div>
            ))}
            {list.length > 6 && <Link to={addressOf(['schedule'])}>All {list.length}</Link>}
          </>
        )}
      </View>
    </section>
  );
}
