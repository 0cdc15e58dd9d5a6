import { useState } from 'preact/hooks';
import { box, type EntryOf, type ValueOf } from '../../app/engine.js';
import { useRead } from '../../app/read.js';
import { addressOf, Link, place, setQuery } from '../../app/router.js';
import { millisecondsOf, Time } from '../../app/time.js';
import { causeOf } from '../../job-rules.js';
import { Choice, withBlanks } from '../../parts/form.js';
import { StatusMark } from '../../parts/marks.js';
import { type Column, DataTable } from '../../parts/table.js';
import { Copy, Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { counted, durationText } from '../../rules/durations.js';
import { filterString, instanceOf } from '../../rules/timeline.js';
import type { JobFacts } from './job.js';

export type Run = EntryOf<typeof box.jobs.runs>;

const outcomes = ['failed', 'succeeded', 'stopped', 'timed_out', 'lost'];

/** The runs of a job that have ended, and those that are under way. */
export function RunsTab({ namespace, id }: Pick<JobFacts, 'namespace' | 'id'>) {
  const outcome = place.value.query.get('outcome') ?? '';
  const cause = place.value.query.get('cause') ?? '';
  const [size, setSize] = useState(100);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const toggle = (run: string): void =>
    setSelected((old) => new Set(old.has(run) ? [...old].filter((each) => each !== run) : [...old, run]));
  const runs = useRead(`runs:${namespace}/${id}:${outcome}:${size}`, {
    topics: ['Job', 'Allocation'],
    read: ({ signal }) =>
      box.jobs.runs({ namespace, jobId: id, signal, perPage: size, ...(outcome === '' ? {} : { outcome }) }),
  });
  return (
    <>
      <Instances namespace={namespace} id={id} />
      <h2>Ended runs</h2>
      <div class="toolbar">
        <Choice
          label="Outcome"
          value={outcome}
          change={(chosen) => setQuery({ outcome: chosen })}
          options={[['', 'any'], ...outcomes.map(withBlanks)]}
        />
        {cause !== '' && (
          <span>
            with the cause “<Text of={cause} />”{' '}
            <button type="button" onClick={() => setQuery({ cause: undefined })}>
              Show all
            </button>
          </span>
        )}
      </div>
      <Causes namespace={namespace} id={id} />
      <View
        reading={runs}
        what="the runs"
        needs={`read-job in ${namespace}`}
        isEmpty={({ items }) => items.length === 0}
        empty={<p>No run has ended{outcome === '' ? '' : ` as ${outcome.replaceAll('_', ' ')}`}.</p>}
      >
        {({ items, nextToken }) => {
          const chosen = items.filter((run) => selected.has(idOf(run)));
          const shown = items.filter((run) => cause === '' || causeOf(run.failure?.message ?? '') === cause);
          return (
            <>
              <Usual runs={items} />
              <CompareChosen runs={chosen} clear={() => setSelected(new Set())} />
              <DataTable
                name="Ended runs"
                columns={columns}
                rows={shown}
                idOf={idOf}
                selection={{ ids: selected, toggle, nameOf: (run) => run.replace(/ \d+$/, '') }}
                more={
                  nextToken === '' || size >= 1000
                    ? undefined
                    : { isLoading: false, load: () => setSize(Math.min(1000, size + 100)) }
                }
              />
            </>
          );
        }}
      </View>
    </>
  );
}

const idOf = ({ jobId, number }: Run): string => `${jobId} ${number}`;

/** Two selected runs are compared. */
function CompareChosen({ runs, clear }: { readonly runs: readonly Run[]; readonly clear: () => void }) {
  const [one, other] = runs;
  if (one === undefined) return null;
  return (
    <div class="toolbar">
      {other !== undefined && runs.length === 2 ? (
        // The list begins with the latest.
        <Link
          class="button"
          to={addressOf(['runs', other.namespace, other.parentId, instanceOf(other)], { with: instanceOf(one) })}
        >
          Compare
        </Link>
      ) : (
        <span class="hint">{counted(runs.length, 'run')} selected: two can be compared.</span>
      )}
      <button type="button" onClick={clear}>
        Clear the selection
      </button>
    </div>
  );
}

/** How long runs take: the median of those that succeeded. */
function Usual({ runs }: { readonly runs: readonly Run[] }) {
  const usual = usualDuration(runs);
  return usual === undefined ? null : (
    <p class="hint">Usually {durationText(usual)} (median of those that succeeded here).</p>
  );
}

function usualDuration(runs: readonly Run[]): number | undefined {
  const times = runs
    .filter(({ outcome }) => outcome === 'succeeded')
    .map(durationOf)
    .filter((time) => time !== undefined)
    .sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}

function durationOf({ startedAt, endedAt }: Run): number | undefined {
  return startedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
}

const columns: readonly Column<Run>[] = [
  {
    key: 'run',
    title: 'Run',
    cell: (run) => (
      <>
        <Link to={addressOf(['jobs', run.namespace, run.jobId])} data-row-link>
          <Text of={run.jobId} />
        </Link>{' '}
        <Link to={addressOf(['runs', run.namespace, run.parentId, instanceOf(run)])}>#{run.number}</Link>{' '}
        {run.failure !== undefined && <Link to={addressOf(['allocs', run.failure.allocationId])}>allocation</Link>}
      </>
    ),
  },
  { key: 'outcome', title: 'Outcome', cell: ({ outcome }) => <StatusMark status={outcome} /> },
  {
    key: 'took',
    title: 'Took',
    isNumber: true,
    cell: (run) => {
      const took = durationOf(run);
      return took === undefined ? <span class="secondary">never started</span> : durationText(took);
    },
  },
  {
    key: 'failure',
    title: 'Why',
    cell: ({ failure }) =>
      failure === undefined ? (
        ''
      ) : (
        <>
          {failure.exitCode === undefined ? '' : `exit ${failure.exitCode} · `}
          <Text of={failure.message} /> <Copy value={failure.message} what="the error" />
        </>
      ),
  },
  { key: 'ended', title: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
];

/** Why runs failed in the last day, counted. */
function Causes({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  const failures = useRead(`failures:${namespace}/${id}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.failures({ namespace, jobId: id, signal }),
  });
  const { value } = failures.state.value;
  if (value === undefined || value.causes.length === 0) return null;
  return (
    <section class="panel">
      <h2>
        {counted(value.failures, 'failed run')} since <Time at={value.since} />, by cause
      </h2>
      {value.isCut && <p class="hint">Only the latest are counted.</p>}
      {value.causes.slice(0, 8).map((cause) => (
        <CauseLine
          key={`${cause.outcome} ${cause.exitCode} ${cause.cause}`}
          cause={cause}
          to={addressOf(['jobs', namespace, id, 'runs'], { cause: cause.cause, outcome: cause.outcome })}
        />
      ))}
    </section>
  );
}

type Cause = ValueOf<typeof box.jobs.failures>['causes'][number];

function CauseLine({ cause, to }: { readonly cause: Cause; readonly to: string }) {
  return (
    <div class="line">
      <strong>{cause.count.toLocaleString('en')}×</strong>
      <span class="what">
        <Text of={cause.example.message || cause.outcome.replaceAll('_', ' ')} />{' '}
        <small>
          {cause.exitCode === undefined ? '' : `exit ${cause.exitCode}, `}
          {Math.round(cause.share * 100)} % of all, first <Time at={cause.firstAt} />, last <Time at={cause.lastAt} />
        </small>
      </span>
      <Link to={to}>Its runs</Link>
    </div>
  );
}

/** Instances that have not been collected. */
function Instances({ namespace, id }: { readonly namespace: string; readonly id: string }) {
  const instances = useRead(`instances:${namespace}/${id}`, {
    topics: ['Job', 'Allocation'],
    read: ({ signal }) =>
      box.jobs.list({
        namespace,
        signal,
        perPage: 50,
        sort: '-changed',
        filter: `ParentID == ${filterString(id)} and Status != "dead"`,
      }),
  });
  const { value } = instances.state.value;
  if (value === undefined || value.items.length === 0) return null;
  return (
    <section class="panel">
      <h2>
        {value.nextToken === '' ? '' : 'The latest '}
        {counted(value.items.length, 'instance')} under way
      </h2>
      {value.items.map((job) => (
        <div class="line" key={job.ID}>
          <Link class="what" to={addressOf(['jobs', namespace, job.ID])}>
            <Text of={job.ID} />
          </Link>
          <StatusMark status={job.Status} />
          <span>
            since <Time at={millisecondsOf(job.SubmitTime)} />
          </span>
        </div>
      ))}
    </section>
  );
}
