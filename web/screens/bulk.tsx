import { signal } from '@preact/signals';
import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { useEffect, useRef, useState } from 'preact/hooks';
import { box, type EntryOf, type Failure, messageOf } from '../app/engine.js';
import { may, rights } from '../app/rights.js';
import { addressOf, Link, navigate, place } from '../app/router.js';
import { mountUrl } from '../app/settings.js';
import { Screen } from '../app/shell.js';
import { serverNow, Time } from '../app/time.js';
import { ask } from '../parts/dialog.js';
import { Mark } from '../parts/marks.js';
import { type Column, DataTable } from '../parts/table.js';
import { Text } from '../parts/text.js';
import {
  afterOne,
  type Bulk,
  type BulkFailure,
  bulkText,
  filterText,
  type JobFilterWords,
  matchCountText,
  mostInBulk,
  setFault,
} from '../rules/bulk-words.js';
import { counted } from '../rules/durations.js';

/*
 * Actions on many jobs. This tab carries them out, one job after the other; their progress and result have an address, and survive a
 * reload of the tab.
 */

type JobEntry = EntryOf<typeof box.jobs.list>;

/** The present list: what it asks the server, and the same in words. */
export interface ListedJobs {
  readonly asked: {
    readonly namespace: string;
    readonly filter?: string;
    readonly lastOutcome?: string;
  };
  readonly words: JobFilterWords;
}

const idOf = ({ Namespace, ID }: Pick<JobEntry, 'Namespace' | 'ID'>): string => `${Namespace}/${ID}`;

interface OwnBulk extends Bulk {
  /** Accessor of the person: nobody else in this tab sees or continues it. */
  readonly caller: string;
}

const name = `signalbox-bulk:${mountUrl.pathname}`;
/** How many are kept, and how many failures of each outlive a reload. */
const most = { bulks: 10, failures: 1000 };

const bulks = signal<readonly OwnBulk[]>(stored());

/** What an earlier document of this tab has left. */
function stored(): readonly OwnBulk[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(name) ?? '[]') as readonly OwnBulk[];
    return kept.map((bulk) => (bulk.state === 'running' ? { ...bulk, state: 'left' } : bulk));
  } catch {
    return [];
  }
}

function store(): void {
  try {
    const kept = bulks.peek().map((bulk) => ({ ...bulk, failures: bulk.failures.slice(0, most.failures) }));
    sessionStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // Without room the result lasts as long as the document.
  }
}

addEventListener('pagehide', store);
addEventListener('beforeunload', (event) => {
  if (bulks.peek().some(({ state }) => state === 'running')) event.preventDefault();
});

const caller = (): string => rights.peek()?.accessor ?? '';
const bulkOf = (key: string): OwnBulk | undefined => bulks.peek().find((bulk) => bulk.key === key);

function change(key: string, next: (bulk: OwnBulk) => Bulk): void {
  bulks.value = bulks.peek().map((bulk) => (bulk.key === key ? { ...bulk, ...next(bulk) } : bulk));
}

const acts = {
  stop: ({ ID, Namespace }: JobEntry) => box.jobs.stop(ID, { namespace: Namespace }),
  restart: ({ ID, Namespace }: JobEntry) => box.jobs.restart(ID, { namespace: Namespace }),
} as const;

/** Begins an action; answers its key. */
function begin(action: Bulk['action'], jobs: readonly JobEntry[], what: string): string {
  const startedAt = serverNow.peek();
  const key = `${action}-${startedAt.toString(36)}`;
  const list = addressOf(['jobs'], Object.fromEntries(place.peek().query));
  const counts = { total: jobs.length, done: 0, failures: [] };
  const bulk: OwnBulk = { key, action, what, list, ...counts, state: 'running', startedAt, caller: caller() };
  bulks.value = [bulk, ...bulks.peek()].slice(0, most.bulks);
  void play(key, jobs, acts[action]);
  return key;
}

async function play(
  key: string,
  jobs: readonly JobEntry[],
  act: (job: JobEntry) => ResultAsync<unknown, Failure>,
): Promise<void> {
  let inRow = 0;
  for (const job of jobs) {
    const bulk = bulkOf(key);
    if (bulk?.state !== 'running') break;
    if (bulk.caller !== caller()) {
      change(key, (now) => ({ ...now, state: 'left' }));
      break;
    }
    const result = await act(job);
    const failure: BulkFailure | undefined = result.isErr()
      ? { namespace: job.Namespace, id: job.ID, message: messageOf(result.error) }
      : undefined;
    const before = inRow;
    inRow = failure === undefined ? 0 : inRow + 1;
    change(key, (now) => afterOne(now, failure, before));
  }
  store();
}

/** The jobs that match, over all pages; those beyond the bound are not read. */
function matching({ asked }: ListedJobs): ResultAsync<readonly JobEntry[], Failure> {
  const read = async (): Promise<Result<readonly JobEntry[], Failure>> => {
    const found: JobEntry[] = [];
    for (let nextToken = ''; found.length <= mostInBulk; ) {
      const page = await box.jobs.list({ ...asked, perPage: 1000, ...(nextToken === '' ? {} : { nextToken }) });
      if (page.isErr()) return err(page.error);
      found.push(...page.value.value.items);
      nextToken = page.value.value.nextToken;
      if (nextToken === '') break;
    }
    return ok(found);
  };
  return new ResultAsync(read());
}

const mayAct = (): boolean => may('jobs.stop', '*') || may('jobs.restart', '*');

interface BulkProps {
  readonly chosen: readonly JobEntry[];
  readonly listed: ListedJobs;
  /** All jobs that match, when the list has no further ones. */
  readonly whole: readonly JobEntry[] | undefined;
  readonly clear: () => void;
}

/** The actions on the selected jobs, or on all that match. These are counted when they are wanted. */
export function BulkActions({ chosen, listed, whole, clear }: BulkProps) {
  const [all, setAll] = useState<readonly JobEntry[] | 'counting' | undefined>(undefined);
  const [failure, setFailure] = useState('');
  // Another filter, and another selection by hand, end that of all.
  const selection = `${JSON.stringify(listed.asked)} ${chosen.map(idOf).join()}`;
  const latest = useRef(selection);
  latest.current = selection;
  useEffect(() => {
    setAll(undefined);
    setFailure('');
  }, [selection]);
  const count = async (): Promise<void> => {
    setFailure('');
    setAll('counting');
    const found = await matching(listed);
    if (latest.current !== selection) return;
    setAll(found.unwrapOr(undefined));
    if (found.isErr()) setFailure(messageOf(found.error));
  };
  const found = all === 'counting' ? undefined : all;
  const isTooMany = found !== undefined && found.length > mostInBulk;
  const isAll = found !== undefined && !isTooMany;
  const jobs = isAll ? found : chosen;
  const set = { jobs, listed: isAll ? listed : undefined, clear, recount: () => setAll(undefined) };
  return (
    <>
      <span>
        {isAll ? `all ${counted(jobs.length, 'job')} that match selected` : `${counted(jobs.length, 'job')} selected`}
      </span>
      {failure !== '' && (
        <span>
          Counting failed: <Text of={failure} />
        </span>
      )}
      {found === undefined && mayAct() && (whole === undefined || whole.length > chosen.length) && (
        <button type="button" disabled={all === 'counting'} onClick={() => void count()}>
          {all === 'counting' ? 'Counting…' : `Select all ${whole === undefined ? '' : `${whole.length} `}that match`}
        </button>
      )}
      {isTooMany && (
        <span class="hint">{matchCountText(found.length)} match: narrow the filter to select them all</span>
      )}
      <Act action="stop" {...set} />
      <Act action="restart" {...set} />
      <button type="button" class="quiet" onClick={clear}>
        Clear the selection
      </button>
    </>
  );
}

const actions = {
  stop: {
    label: 'Stop',
    isFor: (job: JobEntry) => !job.Stop && may('jobs.stop', job.Namespace),
    others: 'stopped already, or yours to read only',
  },
  restart: {
    label: 'Restart',
    isFor: (job: JobEntry) =>
      !job.Periodic && !job.ParameterizedJob && job.Status === 'running' && may('jobs.restart', job.Namespace),
    others: 'not running, or yours to read only',
  },
} as const;

interface ActProps {
  readonly action: Bulk['action'];
  readonly jobs: readonly JobEntry[];
  /** The list of which these are all jobs; undefined for jobs that were selected one by one. */
  readonly listed: ListedJobs | undefined;
  readonly clear: () => void;
  readonly recount: () => void;
}

function Act({ action, jobs, listed, clear, recount }: ActProps) {
  const { label, isFor, others } = actions[action];
  const concerned = jobs.filter(isFor);
  if (concerned.length === 0) return null;
  const left = jobs.length - concerned.length;
  const which = listed === undefined ? 'selected one by one' : filterText(listed.words);
  let key = '';
  const open = (): void =>
    ask({
      title: `${label} ${counted(concerned.length, 'job')}`,
      body: (
        <>
          {listed !== undefined && (
            <p>
              All {counted(jobs.length, 'job')} <Text of={which} />. They are counted again before the first one.
            </p>
          )}
          {left > 0 && (
            <p>
              {counted(left, 'other')} {left === 1 ? 'is' : 'are'} left out: {others}.
            </p>
          )}
          <Names of={concerned} />
          <p class="hint">This tab does it, one after the other: it ends with the tab.</p>
        </>
      ),
      action: label,
      isDestructive: action === 'stop',
      run: () =>
        unchanged(jobs, listed)
          .map(() => (key = begin(action, concerned, `${counted(concerned.length, 'job')}, ${which}`)))
          .mapErr((error) => {
            recount();
            return error;
          }),
      after: () => {
        clear();
        navigate(addressOf(['bulk', key]));
      },
    });
  return (
    <button type="button" class={action === 'stop' ? 'danger' : ''} onClick={open}>
      {label}…
    </button>
  );
}

/** Refuses a set that is another one by now. */
function unchanged(jobs: readonly JobEntry[], listed: ListedJobs | undefined): ResultAsync<undefined, Failure> {
  if (listed === undefined) return okAsync(undefined);
  return matching(listed).andThen((again): Result<undefined, Failure> => {
    const message = setFault(jobs.map(idOf), again.map(idOf));
    return message === undefined ? ok(undefined) : err({ type: 'conflict', message });
  });
}

function Names({ of: jobs }: { readonly of: readonly JobEntry[] }) {
  return (
    <ul>
      {jobs.slice(0, 12).map((job) => (
        <li key={idOf(job)}>
          <Text of={job.ID} /> <small>{job.Namespace}</small>
        </li>
      ))}
      {jobs.length > 12 && <li>and {counted(jobs.length - 12, 'other')}</li>}
    </ul>
  );
}

const failureColumns: readonly Column<BulkFailure>[] = [
  {
    key: 'job',
    title: 'Job',
    cell: ({ namespace, id }) => (
      <>
        <Link to={addressOf(['jobs', namespace, id])} data-row-link>
          <Text of={id} />
        </Link>{' '}
        <small>
          <Text of={namespace} />
        </small>
      </>
    ),
  },
  { key: 'why', title: 'Why it failed', cell: ({ message }) => <Text of={message} /> },
];

const marks = {
  running: ['running', 'Running'],
  done: ['good', 'Done'],
  stopped: ['off', 'Ended'],
  broken: ['failed', 'Broken off'],
  left: ['lost', 'Broken off'],
} as const;

/** The progress and the result of an action on many jobs. */
export function BulkScreen({ id }: { readonly id: string }) {
  const bulk = bulks.value.find(({ key, caller: whose }) => key === id && whose === (rights.value?.accessor ?? ''));
  const crumbs = [{ label: 'Jobs', to: addressOf(['jobs']) }];
  if (bulk === undefined)
    return (
      <Screen title="Action on many jobs" crumbs={crumbs}>
        <div class="state">
          <p>This tab has carried out no such action. Results are kept in the tab that carried the action out.</p>
          <Link to={addressOf(['jobs'])}>All jobs</Link>
        </div>
      </Screen>
    );
  const { action, total, done, failures, state, what, list, startedAt } = bulk;
  const [mark, word] = failures.length > 0 && state === 'done' ? (['degraded', 'Done in part'] as const) : marks[state];
  return (
    <Screen title={action === 'stop' ? 'Stopping jobs' : 'Restarting jobs'} crumbs={crumbs}>
      <div class="panel stack">
        <p>
          <Mark mark={mark} word={word} /> <span role="status">{state === 'running' ? '' : bulkText(bulk)}</span>
        </p>
        <p>
          <progress max={total} value={done + failures.length} aria-label="Progress" />{' '}
          {(done + failures.length).toLocaleString('en')} of {total.toLocaleString('en')}
          {failures.length > 0 ? `, ${failures.length.toLocaleString('en')} failed` : ''}
        </p>
        <p>
          <Text of={what} />, begun <Time at={startedAt} />
        </p>
        <div class="actions">
          {state === 'running' && (
            <button
              type="button"
              class="danger"
              onClick={() => change(bulk.key, (now) => ({ ...now, state: 'stopped' }))}
            >
              Stop here
            </button>
          )}
          <Link to={list}>The list with its filter</Link>
        </div>
      </div>
      {failures.length > 0 && (
        <section>
          <h2>Failed</h2>
          {failures.length === most.failures && <p class="hint">After a reload the first 1,000 are listed.</p>}
          <DataTable
            name="Failed"
            columns={failureColumns}
            rows={failures}
            idOf={({ namespace, id: job }) => `${namespace}/${job}`}
          />
        </section>
      )}
    </Screen>
  );
}
