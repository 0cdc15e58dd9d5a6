import { useState } from 'preact/hooks';
import { box, type EntryOf, inTurn, messageOf, type ValueOf } from '../app/engine.js';
import { keepEqual, useRead } from '../app/read.js';
import { may } from '../app/rights.js';
import { addressOf, Link, navigate, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { Time } from '../app/time.js';
import { causeOf } from '../job-rules.js';
import { ask } from '../parts/dialog.js';
import { Choice, Facts, withBlanks } from '../parts/form.js';
import { CountBar, Mark, StatusMark } from '../parts/marks.js';
import { type Column, DataTable } from '../parts/table.js';
import { Copy, Id, LongText, OtherNamespace, Text } from '../parts/text.js';
import { announce } from '../parts/toasts.js';
import { View } from '../parts/view.js';
import { counted, durationText } from '../rules/durations.js';

type FunctionEntry = EntryOf<typeof box.functions.list>;
type RunEntry = NonNullable<ValueOf<typeof box.functions.runs>>['items'][number];
type State = RunEntry['state'];

const states: readonly State[] = [
  'queued',
  'scheduled',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
];

const words = { running: 'running', waiting: 'waiting', failed: 'failed', good: 'succeeded', off: 'cancelled' };

function Counts({ counts }: { readonly counts: FunctionEntry['counts'] }) {
  return (
    <CountBar
      counts={{
        running: counts.running,
        waiting: counts.queued + counts.scheduled + counts.waiting,
        failed: counts.failed + counts.timed_out,
        good: counts.succeeded,
        off: counts.cancelled,
      }}
      words={words}
    />
  );
}

function standing({ isPaused, missingSince, pausedKeys }: FunctionEntry) {
  if (isPaused) return <Mark mark="waiting" word="paused" />;
  if (missingSince !== undefined) return <Mark mark="failed" word="no process has it" />;
  return pausedKeys.length > 0 ? (
    <Mark mark="waiting" word={`${counted(pausedKeys.length, 'key')} paused`} />
  ) : (
    <Mark mark="good" word="ready" />
  );
}

const columns: readonly Column<FunctionEntry>[] = [
  {
    key: 'name',
    title: 'Function',
    cell: ({ name, namespace }) => (
      <>
        <Link to={addressOf(['functions', namespace, name])} data-row-link>
          <Text of={name} />
        </Link>{' '}
        <OtherNamespace of={namespace} />
      </>
    ),
  },
  { key: 'state', title: 'State', cell: standing },
  { key: 'runs', title: 'Runs', cell: ({ counts }) => <Counts counts={counts} /> },
  {
    key: 'next',
    title: 'Next launch',
    cell: ({ schedules }) => <Time at={schedules.map(({ nextLaunch }) => nextLaunch).sort()[0]} />,
  },
];

export function FunctionsScreen() {
  const namespace = namespaceWanted();
  const [size, setSize] = useState(100);
  const functions = useRead(`functions:${namespace}:${size}`, {
    waits: true,
    read: ({ signal, ...how }) => box.functions.list({ namespace, perPage: size, signal, ...how }),
    keep: (next, previous) => ({
      ...next,
      items: keepEqual(next.items, previous.items, ({ namespace: of, name }) => `${of}/${name}`),
    }),
  });
  return (
    <Screen title="Functions">
      <View
        reading={functions}
        what="the functions"
        needs="read-job"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoFunctions />}
      >
        {({ items, nextToken }) => (
          <DataTable
            name="Functions"
            columns={columns}
            rows={items}
            idOf={({ namespace: of, name }) => `${of}/${name}`}
            more={nextToken === '' ? undefined : { isLoading: false, load: () => setSize(size + 100) }}
          />
        )}
      </View>
    </Screen>
  );
}

function NoFunctions() {
  return (
    <>
      <p>The service defines no functions.</p>
      <p>
        They are defined in its code: <code>engine.functions.define(…)</code>
      </p>
    </>
  );
}

interface FunctionProps {
  readonly namespace: string;
  readonly name: string;
}

export function FunctionScreen({ namespace, name }: FunctionProps) {
  const read = useRead(`function:${namespace}/${name}`, {
    waits: true,
    read: ({ signal, ...how }) => box.functions.read(name, { namespace, signal, ...how }),
  });
  const known = read.state.value.value;
  return (
    <Screen
      title={name}
      crumbs={[
        { label: 'Functions', to: addressOf(['functions']) },
        { label: namespace, to: addressOf(['functions'], { ns: namespace }) },
      ]}
      beside={known !== undefined && <FunctionHeader of={known} />}
    >
      <View reading={read} what="the function" needs={`read-job in ${namespace}`}>
        {(value) => (
          <>
            <section class="panel">
              <Counts counts={value.counts} />
              {value.hasMore && (
                <p class="hint">
                  More than 10,000 runs of all functions are under way: the rest of them counts as queued.
                </p>
              )}
              <Policy of={value} />
            </section>
            <Causes namespace={namespace} name={name} />
            <Runs namespace={namespace} name={name} version={JSON.stringify(value.counts)} />
          </>
        )}
      </View>
    </Screen>
  );
}

function FunctionHeader({ of }: { readonly of: FunctionEntry }) {
  const { namespace, name, isPaused, counts } = of;
  const act = async (what: 'pause' | 'resume'): Promise<void> => {
    const done = await box.functions[what](name, { namespace });
    done.match(
      () =>
        announce(
          what === 'pause' ? `No run of ${name} begins until it is resumed` : `${name} is resumed`,
          what === 'pause' ? { label: 'Undo', run: () => void act('resume') } : undefined,
        ),
      (error) => announce(`It was not done: ${messageOf(error)}`),
    );
  };
  const failed = counts.failed + counts.timed_out;
  return (
    <>
      {standing(of)}
      <span class="room" />
      <div class="actions">
        {may('functions.pause', namespace) && (
          <button type="button" onClick={() => void act(isPaused ? 'resume' : 'pause')}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        )}
        {failed > 0 && may('functions.retry', namespace) && (
          <button
            type="button"
            onClick={() =>
              ask({
                title: `Retry the failed runs of ${name}`,
                body: (
                  <p>
                    {counted(failed, 'run')} failed or timed out. They are queued again with their IDs and finished
                    steps.
                  </p>
                ),
                action: 'Retry',
                run: () => box.functions.retry(name, { namespace, state: ['failed', 'timed_out'] }),
                after: () => announce('They are queued again'),
              })
            }
          >
            Retry failed…
          </button>
        )}
        {counts.queued + counts.scheduled > 0 && may('functions.cancel', namespace) && (
          <button
            type="button"
            class="danger"
            onClick={() =>
              ask({
                title: `Cancel the runs of ${name}`,
                body: (
                  <p>
                    Cancels every run that has not ended: {counts.queued + counts.scheduled} wait,{' '}
                    {counts.running + counts.waiting} are under way.
                  </p>
                ),
                action: 'Cancel the runs',
                isDestructive: true,
                run: () => box.functions.cancel(name, { namespace }),
                after: () => announce('They are cancelled'),
              })
            }
          >
            Cancel runs…
          </button>
        )}
      </div>
    </>
  );
}

function Policy({ of }: { readonly of: FunctionEntry }) {
  const { retry, timeout, priority, schedules } = of;
  return (
    <Facts
      of={[
        ['Attempts', `${retry.attempts}${timeout === undefined ? '' : `, each at most ${durationText(timeout)}`}`],
        ['Priority', priority],
        ...schedules.map(
          (schedule, at) =>
            [
              at === 0 ? 'Schedules' : '',
              <>
                <code>
                  <Text of={schedule.schedule} />
                </code>{' '}
                in <Text of={schedule.timeZone} />, next <Time at={schedule.nextLaunch} />
              </>,
            ] as const,
        ),
      ]}
    />
  );
}

function Causes({ namespace, name }: FunctionProps) {
  const failures = useRead(`function-failures:${namespace}/${name}`, {
    every: 30_000,
    read: ({ signal }) => box.jobs.failures({ namespace, jobId: name, signal }),
  });
  const { value } = failures.state.value;
  if (value === undefined || value.causes.length === 0) return null;
  return (
    <section class="panel">
      <h2>{counted(value.failures, 'failed run')} in the last day, by cause</h2>
      {value.causes.slice(0, 8).map(({ cause, count, example, lastAt, outcome }) => (
        <div class="line" key={`${outcome} ${cause}`}>
          <strong>{count.toLocaleString('en')}×</strong>
          <span class="what">
            <Text of={example.message || outcome} />{' '}
            <small>
              last <Time at={lastAt} />
            </small>
          </span>
          <Link to={addressOf(['functions', namespace, 'runs', example.id])}>The latest</Link>
          {may('functions.retry', namespace) && <RetryCause namespace={namespace} name={name} cause={cause} />}
        </div>
      ))}
    </section>
  );
}

/** Retries the failed runs of one cause, counted first. */
function RetryCause({ namespace, name, cause }: FunctionProps & { readonly cause: string }) {
  const open = async (): Promise<void> => {
    const read = await box.functions.runs(name, { namespace, state: ['failed', 'timed_out'], perPage: 1000 });
    if (read.isErr()) return announce(`The runs cannot be read: ${messageOf(read.error)}`);
    const alike = (read.value.value?.items ?? []).filter(({ error }) => causeOf(error?.message ?? '') === cause);
    if (alike.length === 0) return announce('None of these runs is kept any more.');
    ask({
      title: 'Retry these runs',
      body: (
        <p>
          {counted(alike.length, 'run')} of the latest 1,000 failed runs of <Text of={name} /> failed so. They are
          queued again with their IDs and finished steps.
        </p>
      ),
      action: 'Retry',
      run: () => inTurn(alike, ({ id }) => box.functions.retryRun(id, { namespace })),
      after: () => announce('They are queued again'),
    });
  };
  return (
    <button type="button" onClick={() => void open()}>
      Retry…
    </button>
  );
}

const runColumns: readonly Column<RunEntry & { readonly namespace: string }>[] = [
  {
    key: 'id',
    title: 'Run',
    cell: ({ id, namespace }) => (
      <Link to={addressOf(['functions', namespace, 'runs', id])} data-row-link>
        <Text of={id} />
      </Link>
    ),
  },
  { key: 'state', title: 'State', cell: ({ state }) => <StatusMark status={state} /> },
  { key: 'attempt', title: 'Attempt', isNumber: true, cell: ({ attempt }) => attempt },
  { key: 'error', title: 'Error', cell: ({ error }) => <Text of={error?.message} /> },
  {
    key: 'took',
    title: 'Took',
    isNumber: true,
    cell: ({ startedAt, endedAt }) =>
      startedAt === undefined || endedAt === undefined ? '' : durationText(Date.parse(endedAt) - Date.parse(startedAt)),
  },
  { key: 'time', title: 'Enqueued', cell: ({ enqueuedAt }) => <Time at={enqueuedAt} /> },
];

function Runs({ namespace, name, version }: FunctionProps & { readonly version: string }) {
  const state = place.value.query.get('state') ?? '';
  const [size, setSize] = useState(100);
  const runs = useRead(`function-runs:${namespace}/${name}:${state}:${size}:${version}`, {
    read: ({ signal }) =>
      box.functions.runs(name, { namespace, signal, perPage: size, ...(isState(state) ? { state: [state] } : {}) }),
  });
  return (
    <section>
      <h2>Runs</h2>
      <div class="toolbar">
        <Choice
          label="State"
          value={state}
          change={(chosen) => setQuery({ state: chosen })}
          options={[['', 'any'], ...states.map(withBlanks)]}
        />
      </div>
      <View
        reading={runs}
        what="the runs"
        needs={`read-job in ${namespace}`}
        isEmpty={({ items }) => items.length === 0}
        empty={<p>There are no such runs.</p>}
      >
        {({ items, nextToken }) => (
          <DataTable
            name="Runs"
            columns={runColumns}
            rows={items.map((run) => ({ ...run, namespace }))}
            idOf={({ id }) => id}
            more={nextToken === '' ? undefined : { isLoading: false, load: () => setSize(size + 100) }}
          />
        )}
      </View>
    </section>
  );
}

function isState(text: string): text is State {
  return states.some((state) => state === text);
}

export function FunctionRunScreen({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  const run = useRead(`function-run:${namespace}/${id}`, {
    waits: true,
    read: ({ signal, ...how }) => box.functions.run(id, { namespace, signal, ...how }),
  });
  const known = run.state.value.value;
  return (
    <Screen
      title={known === undefined ? id : `Run of ${known.function}`}
      crumbs={[
        { label: 'Functions', to: addressOf(['functions']) },
        ...(known === undefined
          ? []
          : [{ label: known.function, to: addressOf(['functions', namespace, known.function]) }]),
      ]}
      beside={known !== undefined && <RunHeader namespace={namespace} run={known} />}
    >
      <View
        reading={run}
        what="the run"
        needs={`read-job in ${namespace}`}
        gone={<p>Runs that have ended are removed after some time.</p>}
      >
        {(value) => <RunDetails namespace={namespace} run={value} />}
      </View>
    </Screen>
  );
}

type Run = NonNullable<ValueOf<typeof box.functions.run>>;
const endedStates: readonly State[] = ['succeeded', 'failed', 'timed_out', 'cancelled'];

function RunHeader({ namespace, run }: { readonly namespace: string; readonly run: Run }) {
  const isOver = endedStates.includes(run.state);
  const act = async (what: 'retryRun' | 'cancelRun'): Promise<void> => {
    const done = await box.functions[what](run.id, { namespace });
    done.mapErr((error) => announce(`It was not done: ${messageOf(error)}`));
  };
  const again = async (): Promise<void> => {
    const enqueued = await box.functions.enqueue(run.function, {
      namespace,
      ...(run.input === undefined ? {} : { input: run.input }),
    });
    enqueued.match(
      ({ id }) => navigate(addressOf(['functions', namespace, 'runs', id])),
      (error) => announce(`It was not enqueued: ${messageOf(error)}`),
    );
  };
  return (
    <>
      <StatusMark status={run.state} /> <Id of={run.id} what="the run's ID" />
      <span class="room" />
      <div class="actions">
        {isOver && run.state !== 'succeeded' && may('functions.retry', namespace) && (
          <button type="button" onClick={() => void act('retryRun')}>
            Retry
          </button>
        )}
        {isOver && may('functions.enqueue', namespace) && (
          <button type="button" onClick={() => void again()}>
            Run again with the same input
          </button>
        )}
        {!isOver && may('functions.cancel', namespace) && (
          <button type="button" class="danger" onClick={() => void act('cancelRun')}>
            Cancel
          </button>
        )}
      </div>
    </>
  );
}

function RunDetails({ namespace, run }: { readonly namespace: string; readonly run: Run }) {
  const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'null';
  return (
    <>
      {!endedStates.includes(run.state) && <Waits namespace={namespace} id={run.id} />}
      {run.error !== undefined && (
        <div class="notice failed">
          <p>
            <strong>
              <Text of={run.error.name} />
            </strong>
            : <Text of={run.error.message} /> <Copy value={run.error.message} what="the error" />
          </p>
          {run.error.stack !== undefined && (
            <details>
              <summary>Where it was thrown</summary>
              <pre>
                <Text of={run.error.stack} />
              </pre>
            </details>
          )}
        </div>
      )}
      <div class="columns">
        <section class="panel">
          <h2>Times</h2>
          <Facts
            of={[
              ['Enqueued', <Time at={run.enqueuedAt} />],
              ['Due', <Time at={run.dueAt} />],
              [
                'Started',
                <>
                  <Time at={run.startedAt} /> {run.attempt > 0 && <small>attempt {run.attempt}</small>}
                </>,
              ],
              ['Ended', <Time at={run.endedAt} />],
            ]}
          />
          {run.steps.length > 0 && (
            <p>
              Finished steps: <Text of={run.steps.join(', ')} />
            </p>
          )}
        </section>
        <section class="panel">
          <h2>Input</h2>
          <pre>
            <LongText of={json(run.input)} />
          </pre>
        </section>
        {run.result !== undefined && (
          <section class="panel">
            <h2>Result</h2>
            <pre>
              <LongText of={json(run.result)} />
            </pre>
          </section>
        )}
      </div>
      {may('functions.log', namespace) && <RunLog namespace={namespace} run={run} />}
    </>
  );
}

function Waits({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  const explained = useRead(`function-run-why:${namespace}/${id}`, {
    every: 5000,
    read: ({ signal }) => box.functions.explain(id, { namespace, signal }),
  });
  const { value } = explained.state.value;
  return value === undefined ? null : (
    <p class="notice waiting">
      <Text of={value.message} />
    </p>
  );
}

function RunLog({ namespace, run }: { readonly namespace: string; readonly run: Run }) {
  const log = useRead(`function-run-log:${namespace}/${run.id}:${run.state}:${run.attempt}`, {
    every: 3000,
    read: ({ signal }) => box.functions.log(run.id, { namespace, signal }),
  });
  return (
    <section class="panel">
      <h2>Log</h2>
      <View
        reading={log}
        what="the log"
        needs={`read-logs in ${namespace}`}
        isEmpty={(lines) => lines.length === 0}
        empty={<p>It has logged nothing.</p>}
      >
        {(lines) => (
          <ol class="mono">
            {lines.map(({ at, level, text }, index) => (
              <li key={index} class={level === 'error' ? 'failed' : ''}>
                <small>{at.slice(11, 23)}</small> <Text of={text} />
              </li>
            ))}
          </ol>
        )}
      </View>
    </section>
  );
}
