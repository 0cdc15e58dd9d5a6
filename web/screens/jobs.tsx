import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { box, type EntryOf, type Failure } from '../app/engine.js';
import { useKey } from '../app/keys.js';
import { lazy } from '../app/lazy.js';
import { prefer, preferences } from '../app/preferences.js';
import { keepEqual, type Reading, useRead } from '../app/read.js';
import { mayEdit } from '../app/rights.js';
import { addressOf, Link, place, setQuery } from '../app/router.js';
import { namespaceWanted, Screen } from '../app/shell.js';
import { Time } from '../app/time.js';
import { jobHealth } from '../job-rules.js';
import { CountBar, Mark, StatusMark } from '../parts/marks.js';
import { type Column, DataTable, useSteadyRows } from '../parts/table.js';
import { OtherNamespace, Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { counted } from '../rules/durations.js';
import { beginOf, type PageChain, pagesToRead, rowsOf, withPage } from '../rules/lists.js';
import type { ListedJobs } from './bulk.js';

const BulkActions = lazy(() => import('./bulk.js').then((each) => each.BulkActions));

type JobEntry = EntryOf<typeof box.jobs.list>;
type Activity = EntryOf<typeof box.jobs.statusesOf>;

/** A job of the list with its activity, which is read for the rows that are shown. */
interface JobRow {
  readonly job: JobEntry;
  readonly activity: Activity | undefined;
}

const pageSize = 50;
const orders = ['-changed', 'id', 'status', '-last_run', 'last_outcome', 'next_launch', 'type', 'priority'];
const outcomes = ['failed', 'succeeded', 'stopped', 'timed_out', 'lost'];

export const idOf = ({ Namespace, ID }: { readonly Namespace: string; readonly ID: string }): string =>
  `${Namespace}/${ID}`;

/** A filter that is not an expression is words to find in the ID. */
function filterOf(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (/[=!<>]=?|\b(?:contains|matches|in|not|is)\b/.test(trimmed)) return trimmed;
  return trimmed
    .split(/\s+/)
    .map((word) => `ID contains ${JSON.stringify(word)}`)
    .join(' and ');
}

function isParent(job: JobEntry): boolean {
  return job.Periodic || job.ParameterizedJob;
}

export function JobsScreen() {
  const { query } = place.value;
  const namespace = namespaceWanted();
  const asked = query.get('q') ?? '';
  const outcome = query.get('last') ?? '';
  const sort = query.get('sort') ?? '-changed';
  const withInstances = query.get('instances') === 'yes';
  const filter = filterOf(asked);
  const listKey = JSON.stringify(['jobs', namespace, filter, outcome, sort, withInstances]);
  const conditions = [filter, withInstances ? undefined : 'ParentID == ""'].filter((each) => each !== undefined);
  const wanted = {
    namespace,
    ...(conditions.length === 0 ? {} : { filter: conditions.join(' and ') }),
    ...(outcome === '' ? {} : { lastOutcome: outcome }),
  };
  const extent = useMemo(() => ({ wanted: 1, shown: [0, 0] as readonly [number, number] }), [listKey]);
  const list: Reading<PageChain<JobEntry>> = useRead(listKey, {
    topics: ['Job', 'Allocation', 'Deployment', 'Evaluation'],
    read: ({ signal }) =>
      new ResultAsync(readChain(list.state.peek().value ?? [], extent, { ...wanted, sort, signal, perPage: pageSize })),
  });
  return (
    <Screen title="Jobs" beside={<JobsActions namespace={namespace} />}>
      <JobFilter asked={asked} outcome={outcome} sort={sort} withInstances={withInstances} failure={undefined} />
      <View
        reading={list}
        what="the jobs"
        needs="list-jobs"
        isEmpty={(chain) => rowsOf(chain, idOf).length === 0}
        empty={asked === '' && outcome === '' ? <NoJobs /> : <NoMatches />}
      >
        {(chain) => (
          <JobTable
            key={listKey}
            jobs={rowsOf(chain, idOf)}
            listed={{ asked: wanted, words: { namespace, text: asked, outcome, withInstances } }}
            sort={sort}
            show={(from, to) => {
              extent.shown = [from, to];
              // What is shown now may be older than the rest.
              if (to > pageSize) void list.refresh();
            }}
            more={
              chain.at(-1)?.next === ''
                ? undefined
                : {
                    isLoading: extent.wanted > chain.length,
                    load: () => {
                      extent.wanted = chain.length + 1;
                      void list.refresh();
                    },
                  }
            }
          />
        )}
      </View>
    </Screen>
  );
}

/** How much of the list is there: pages, and the rows on the screen from one to before another. */
interface Extent {
  readonly wanted: number;
  readonly shown: readonly [number, number];
}

async function readChain(
  known: PageChain<JobEntry>,
  { wanted, shown }: Extent,
  options: Parameters<typeof box.jobs.list>[0],
): Promise<Result<PageChain<JobEntry>, Failure>> {
  let chain = known;
  for (const at of pagesToRead(known, shown, wanted)) {
    const begin = beginOf(chain, at);
    if (begin === undefined) break;
    const read = await box.jobs.list({ ...options, ...(begin === '' ? {} : { nextToken: begin }) });
    if (read.isErr()) return err(read.error);
    const { items, nextToken } = read.value.value;
    chain = withPage(chain, at, { items: keepEqual(items, chain[at]?.items ?? [], idOf), next: nextToken });
  }
  return ok(chain);
}

function JobsActions({ namespace }: { readonly namespace: string }) {
  if (!mayEdit(namespace)) return null;
  return (
    <>
      <span class="room" />
      <Link class="button" to={addressOf(['jobs', 'new'])}>
        Run a job
      </Link>
    </>
  );
}

interface FilterProps {
  readonly asked: string;
  readonly outcome: string;
  readonly sort: string;
  readonly withInstances: boolean;
  readonly failure: string | undefined;
}

function JobFilter({ asked, outcome, sort, withInstances }: FilterProps) {
  const input = useRef<HTMLInputElement>(null);
  // The field keeps its own text: a key renders nothing.
  const text = (): string => input.current?.value ?? '';
  useEffect(() => {
    if (input.current !== null) input.current.value = asked;
  }, [asked]);
  useKey('/', () => input.current?.focus());
  const apply = (event: Event): void => {
    event.preventDefault();
    setQuery({ q: text() });
  };
  const { views } = preferences.value;
  const present = new URLSearchParams(
    Object.entries({ q: asked, last: outcome, sort }).filter(([, value]) => value !== ''),
  ).toString();
  return (
    <search>
      <form class="toolbar" onSubmit={apply}>
        <input
          ref={input}
          type="search"
          aria-label="Filter"
          placeholder='Part of a name, or Type == "batch" and Priority > 50'
          defaultValue={asked}
          onBlur={() => text() !== asked && setQuery({ q: text() })}
        />
        <label>
          Last run{' '}
          <select value={outcome} onChange={(event) => setQuery({ last: event.currentTarget.value })}>
            <option value="">any</option>
            {outcomes.map((each) => (
              <option key={each} value={each}>
                {each.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <label>
          Order{' '}
          <select value={sort} onChange={(event) => setQuery({ sort: event.currentTarget.value })}>
            {[...new Set([...orders, sort])].map((each) => (
              <option key={each} value={each}>
                {each.replace(/^-/, '').replaceAll('_', ' ')}
                {each.startsWith('-') ? ', latest first' : ''}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={withInstances}
            onChange={(event) => setQuery({ instances: event.currentTarget.checked ? 'yes' : undefined })}
          />
          instances
        </label>
        {views.length > 0 && (
          <nav class="chips" aria-label="Saved views">
            {views.map(({ name, query }) => (
              <Link key={name} class="chip" to={`${addressOf(['jobs'])}?${query}`}>
                <Text of={name} />
              </Link>
            ))}
          </nav>
        )}
        {present !== 'sort=-changed' && <SaveView query={present} />}
      </form>
    </search>
  );
}

function SaveView({ query }: { readonly query: string }) {
  const { views } = preferences.value;
  const known = views.find((view) => view.query === query);
  const save = (): void => {
    const name = new URLSearchParams(query).get('q') ?? new URLSearchParams(query).get('last') ?? query;
    prefer({ views: [...views.filter((view) => view.name !== name), { name, query }].slice(-12) });
  };
  if (known !== undefined)
    return (
      <button type="button" class="quiet" onClick={() => prefer({ views: views.filter((view) => view !== known) })}>
        Remove this view
      </button>
    );
  return (
    <button type="button" class="quiet" onClick={save}>
      Save this view
    </button>
  );
}

function NoJobs() {
  return (
    <>
      <p>There are no jobs yet.</p>
      {mayEdit('*') && (
        <p>
          <Link to={addressOf(['jobs', 'new'])}>Run a job</Link>, or <code>signalbox job run FILE</code>
        </p>
      )}
    </>
  );
}

function NoMatches() {
  return (
    <>
      <p>No job matches the filter.</p>
      <button type="button" onClick={() => setQuery({ q: undefined, last: undefined })}>
        Clear the filter
      </button>
    </>
  );
}

/** The activity of so many rows is read at a time: those on the screen and some around them. */
const block = 10;

interface JobTableProps {
  readonly jobs: readonly JobEntry[];
  readonly listed: ListedJobs;
  readonly sort: string;
  /** Called with the rows on the screen, from one to before another. */
  readonly show: (from: number, to: number) => void;
  readonly more: { readonly isLoading: boolean; readonly load: () => void } | undefined;
}

function JobTable({ jobs, listed, sort, show: showRows, more }: JobTableProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isHeld, setHeld] = useState(false);
  const { rows: steady, changes, show } = useSteadyRows(jobs, idOf, isHeld || selected.size > 0);
  const [blocks, setBlocks] = useState<readonly [number, number]>([0, 3]);
  const active = steady.slice(blocks[0] * block, blocks[1] * block);
  const activityKey = JSON.stringify(['activity', active.map(idOf)]);
  const activity = useRead(activityKey, {
    topics: ['Job', 'Allocation', 'Deployment'],
    read: ({ signal }) =>
      box.jobs.statusesOf(
        active.map(({ Namespace, ID }) => ({ namespace: Namespace, id: ID })),
        { namespace: '*', signal, includeChildren: true },
      ),
    keep: (next, previous) => ({ ...next, items: keepEqual(next.items, previous.items, idOf) }),
  });
  const statuses = activity.state.value.value?.items;
  const rows = useRows(steady, statuses);
  const selection = {
    ids: selected,
    toggle: (id: string) =>
      setSelected((old) => new Set(old.has(id) ? [...old].filter((each) => each !== id) : [...old, id])),
    nameOf: (id: string) => id,
  };
  const chosen = jobs.filter((job) => selected.has(idOf(job)));
  return (
    <section
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <div class="toolbar changes" aria-live="polite">
        <span class="hint">
          {more === undefined ? counted(rows.length, 'job') : `the first ${counted(rows.length, 'job')}`}
        </span>
        {changes > 0 && (
          <button type="button" onClick={show}>
            {counted(changes, 'change')}: show
          </button>
        )}
        {chosen.length > 0 && (
          <BulkActions
            chosen={chosen}
            listed={listed}
            whole={more === undefined ? jobs : undefined}
            clear={() => setSelected(new Set())}
          />
        )}
      </div>
      <DataTable
        name="Jobs"
        columns={columns}
        rows={rows}
        idOf={rowId}
        sort={{ by: sort, change: (by) => setQuery({ sort: by }) }}
        selection={selection}
        more={more}
        show={(from, to) => {
          const [first, end] = [Math.floor(from / block), Math.ceil(to / block)];
          setBlocks((old) => (old[0] === first && old[1] === end ? old : [first, end]));
          showRows(from, to);
        }}
      />
    </section>
  );
}

const rowId = ({ job }: JobRow): string => idOf(job);

/** A row keeps its object while neither its record nor its activity has changed. */
function useRows(jobs: readonly JobEntry[], statuses: readonly Activity[] | undefined): readonly JobRow[] {
  const known = useRef(new Map<string, JobRow>());
  return useMemo(() => {
    const byId = new Map((statuses ?? []).map((entry) => [idOf(entry), entry]));
    const rows = jobs.map((job) => {
      const id = idOf(job);
      const old = known.current.get(id);
      // Those of rows that are not on the screen are as they were last.
      const activity = byId.get(id) ?? old?.activity;
      return old !== undefined && old.job === job && old.activity === activity ? old : { job, activity };
    });
    known.current = new Map(rows.map((row) => [rowId(row), row]));
    return rows;
  }, [jobs, statuses]);
}

const columns: readonly Column<JobRow>[] = [
  {
    key: 'job',
    title: 'Job',
    sort: 'id',
    cell: ({ job }) => (
      <>
        <Link to={addressOf(['jobs', job.Namespace, job.ID])} data-row-link>
          <Text of={job.ID} />
        </Link>{' '}
        <OtherNamespace of={job.Namespace} />
      </>
    ),
  },
  { key: 'type', title: 'Type', sort: 'type', cell: ({ job }) => typeWord(job) },
  { key: 'state', title: 'State', sort: 'status', cell: (row) => <Mark {...healthOf(row)} /> },
  { key: 'allocations', title: 'Allocations', cell: ({ job }) => <Allocations job={job} /> },
  { key: 'version', title: 'v', isNumber: true, cell: ({ activity }) => activity?.Version ?? '' },
  {
    key: 'last',
    title: 'Last run',
    sort: 'last_run',
    cell: ({ job: { LastRun } }) =>
      LastRun === undefined ? (
        <span class="secondary">–</span>
      ) : (
        <>
          <StatusMark status={LastRun.Outcome} /> <Time at={LastRun.EndedAt} />
        </>
      ),
  },
  {
    key: 'next',
    title: 'Next launch',
    sort: 'next_launch',
    cell: ({ job }) => <Time at={job.NextLaunch} none={job.ParameterizedJob ? 'by dispatch' : '–'} />,
  },
  { key: 'submitted', title: 'Registered', sort: 'submitted', cell: ({ job }) => <Time at={job.SubmitTime} /> },
];

function typeWord(job: Pick<JobEntry, 'Type' | 'Periodic' | 'ParameterizedJob'>): string {
  if (job.Periodic) return `${job.Type}, periodic`;
  return job.ParameterizedJob ? `${job.Type}, dispatched` : job.Type;
}

function healthOf({ job, activity }: JobRow) {
  return jobHealth(
    job,
    activity === undefined ? undefined : { wanted: activity.GroupCountSum, deployment: activity.LatestDeployment },
  );
}

function Allocations({ job }: { readonly job: JobEntry }) {
  const { Summary, Children } = job.JobSummary;
  if (isParent(job) && Children !== null)
    return (
      <CountBar
        counts={{ running: Children.Running, waiting: Children.Pending, off: Children.Dead }}
        words={{ running: 'running', waiting: 'pending', off: 'ended' }}
      />
    );
  const groups = Object.values(Summary ?? {});
  const sum = (of: 'Running' | 'Starting' | 'Queued' | 'Lost' | 'Unknown' | 'Failed' | 'Complete'): number =>
    groups.reduce((total, group) => total + group[of], 0);
  const isOver = job.Status === 'dead';
  return (
    <CountBar
      counts={{
        running: sum('Running'),
        waiting: sum('Queued') + sum('Starting'),
        lost: sum('Unknown'),
        ...(isOver ? { good: sum('Complete'), failed: sum('Failed') } : {}),
      }}
      words={{
        running: 'running',
        waiting: sum('Queued') > 0 ? 'waiting' : 'starting',
        lost: 'unknown',
        good: 'complete',
        failed: 'failed',
      }}
    />
  );
}
