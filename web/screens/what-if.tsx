import { okAsync, type ResultAsync } from 'neverthrow';
import { useEffect, useState } from 'preact/hooks';
import { box, type EntryOf, type Failure as Failed, messageOf, type ValueOf } from '../app/engine.js';
import { may, namespaceNames, rights } from '../app/rights.js';
import { addressOf, Link } from '../app/router.js';
import { exactTime, serverNow } from '../app/time.js';
import { Choice, FailureNote } from '../parts/form.js';
import { Mark } from '../parts/marks.js';
import { type Column, DataTable } from '../parts/table.js';
import { OtherNamespace, Text } from '../parts/text.js';
import { counted, durationText } from '../rules/durations.js';
import {
  cutText,
  type Fate,
  fatesOf,
  fatesSentence,
  type JobOutcome,
  type Move,
  movesOf,
  outcomesOf,
  registrationSentences,
} from '../rules/simulation-words.js';
import type { JobDocument } from './job/job.js';

export type Simulation = ValueOf<typeof box.jobs.simulate>;

const minute = 60_000;
const anHour = 60 * minute;
const durations = [
  [10 * minute, '10 minutes'],
  [anHour, 'an hour'],
  [6 * anHour, '6 hours'],
  [24 * anHour, 'a day'],
] as const;

/** What a simulation has shown, or why it could not be made. */
export function useSimulation<T extends object>() {
  const [played, setPlayed] = useState<T | undefined>(undefined);
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = async (simulated: ResultAsync<T, Failed>): Promise<void> => {
    setBusy(true);
    setFailure('');
    const answered = await simulated;
    setBusy(false);
    setPlayed(answered.unwrapOr(undefined));
    if (answered.isErr()) setFailure(messageOf(answered.error));
  };
  const forget = (): void => {
    setPlayed(undefined);
    setFailure('');
  };
  return { played, failure, isBusy, run, forget };
}

/** What a result relies on, and when it was made. */
export function Basis({ simulation }: { readonly simulation: Simulation }) {
  const from = Date.parse(simulation.from);
  const age = serverNow.value - from;
  const cut = cutText(simulation);
  return (
    <>
      {cut !== '' && <p class="notice waiting">{cut}</p>}
      <p class="hint">
        Made {age < 1000 ? 'just now' : `${durationText(age)} ago`} from the cluster as it was at {exactTime(from)},
        played for {durationText(Date.parse(simulation.playedUntil) - from)}; nothing is reserved, and other changes
        lead to another result. Assumed: tasks start within a second and never fail, and batch work takes a minute
        unless another time is given. Left out: launches by the clock, dispatches, restarts and nodes that come back
        {rights.value?.management === true ? '.' : '; jobs that you may not read have their part, but are not listed.'}
      </p>
    </>
  );
}

interface OwnJob {
  readonly namespace: string;
  readonly jobId: string;
}

const jobColumn: Column<OwnJob> = {
  key: 'job',
  title: 'Job',
  cell: ({ namespace, jobId }) => (
    <>
      <Link to={addressOf(['jobs', namespace, jobId])} data-row-link>
        <Text of={jobId} />
      </Link>{' '}
      <OtherNamespace of={namespace} />
    </>
  ),
};

const outcomeColumns: readonly Column<JobOutcome>[] = [
  jobColumn,
  { key: 'placed', title: 'Placed', isNumber: true, cell: ({ placed }) => placed },
  { key: 'replaced', title: 'Moved or replaced', isNumber: true, cell: ({ replaced }) => replaced },
  { key: 'stopped', title: 'Stopped', isNumber: true, cell: ({ stopped }) => stopped },
  {
    key: 'end',
    title: 'At the end',
    cell: ({ running, starting, isWaiting }) => (
      <>
        {running} running{starting > 0 ? `, ${starting} starting` : ''}{' '}
        {isWaiting && <Mark mark="waiting" word="waits for room" />}
      </>
    ),
  },
];

const afterText = (milliseconds: number): string => (milliseconds <= 0 ? 'at once' : durationText(milliseconds));

type Numbered<T> = readonly [number, T];
const numberOf = ([number]: Numbered<unknown>): string => String(number);

const moveColumns: readonly Column<Numbered<Move>>[] = [
  { key: 'after', title: 'After', cell: ([, { after }]) => afterText(after) },
  {
    key: 'allocation',
    title: 'Allocation',
    cell: ([, { name, namespace }]) => (
      <>
        <Text of={name} /> <OtherNamespace of={namespace} />
      </>
    ),
  },
  { key: 'from', title: 'From', cell: ([, { from }]) => (from === '' ? '–' : <Text of={from} />) },
  {
    key: 'to',
    title: 'To',
    cell: ([, { to }]) => (to === undefined ? 'stops' : to === '' ? 'a node' : <Text of={to} />),
  },
  { key: 'why', title: 'Why', cell: ([, { why }]) => (why === '' ? 'new' : <Text of={why} />) },
];

type Line = Simulation['timeline'][number];

/** Every line of a simulation, and the counts of its jobs. */
function Details({ simulation, own }: { readonly simulation: Simulation; readonly own?: OwnJob }) {
  const start = Date.parse(simulation.from);
  const moves = movesOf(simulation);
  const lineColumns: readonly Column<Numbered<Line>>[] = [
    { key: 'after', title: 'After', cell: ([, { at }]) => afterText(Date.parse(at) - start) },
    { key: 'subject', title: 'What', cell: ([, { subject }]) => <Text of={subject} /> },
    { key: 'text', title: 'Happens', cell: ([, { text }]) => <Text of={text} /> },
  ];
  return (
    <>
      {simulation.jobs.length > 0 && (
        <DataTable
          name="Jobs that it concerns"
          columns={outcomeColumns}
          rows={outcomesOf(simulation, own)}
          idOf={({ namespace, jobId }) => `${namespace}/${jobId}`}
        />
      )}
      {moves.length > 0 && (
        <details open={moves.length <= 20}>
          <summary>{counted(moves.length, 'allocation')}</summary>
          <DataTable
            name="Allocations that are placed or stop"
            columns={moveColumns}
            rows={[...moves.entries()]}
            idOf={numberOf}
          />
        </details>
      )}
      <details>
        <summary>All {counted(simulation.timeline.length, 'line')}</summary>
        <DataTable name="Timeline" columns={lineColumns} rows={[...simulation.timeline.entries()]} idOf={numberOf} />
      </details>
    </>
  );
}

function DurationChoice({ value, change }: { readonly value: number; readonly change: (value: number) => void }) {
  return (
    <Choice label="Simulated time" value={value} change={(chosen) => change(Number(chosen))} options={durations} />
  );
}

/** The count of allocations that a document wants; undefined for work that ends, and for jobs that launch others. */
export function wantedCount({ Type, Periodic, ParameterizedJob, TaskGroups }: JobDocument): number | undefined {
  if ((Type ?? 'service') !== 'service' || Periodic != null || ParameterizedJob != null) return undefined;
  return (TaskGroups ?? []).reduce((sum, { Count }) => sum + (Count ?? 1), 0);
}

interface SimulateProps {
  readonly job: JobDocument;
  readonly namespace: string;
}

/** Plays the registration of a job. Its key names the plan: a result belongs to one. */
export function SimulateJob({ job, namespace }: SimulateProps) {
  const [duration, setDuration] = useState<number>(anHour);
  const [workFor, setWorkFor] = useState(1);
  const isBatch = job.Type === 'batch' || job.Type === 'sysbatch';
  const launches = job.Periodic != null || job.ParameterizedJob != null;
  const { played, failure, isBusy, run } = useSimulation<Simulation>();
  if (!may('jobs.simulate', namespace)) return null;
  const own = { namespace, jobId: job.ID ?? '' };
  return (
    <section aria-label="Simulation" class="stack">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          const taking = isBatch && workFor > 0 ? { workFor: Math.max(1, Math.round(workFor * minute)) } : {};
          void run(box.jobs.simulate({ job, namespace, duration, ...taking }));
        }}
      >
        <button type="submit" disabled={isBusy}>
          {isBusy ? 'Simulating…' : 'Simulate'}
        </button>
        <DurationChoice value={duration} change={setDuration} />
        {isBatch && !launches && (
          <label>
            work takes{' '}
            <input
              type="number"
              class="short"
              min={0}
              max={1440}
              step="any"
              value={workFor}
              onInput={(event) => setWorkFor(event.currentTarget.valueAsNumber)}
            />{' '}
            minutes
          </label>
        )}
      </form>
      <FailureNote of={failure} lead="It cannot be simulated: " />
      {played !== undefined && (
        <>
          <div role="status">
            <h3>If it were applied now</h3>
            {launches ? (
              <p>The job itself runs nothing; instances that it launches are not played.</p>
            ) : (
              registrationSentences(played, { ...own, count: wantedCount(job) }).map((sentence) => (
                <p key={sentence}>
                  <Text of={sentence} />
                </p>
              ))
            )}
          </div>
          <Details simulation={played} own={own} />
          <Basis simulation={played} />
        </>
      )}
    </section>
  );
}

/** A namespace in whose name a node may be simulated; undefined if there is none. */
export function simulatingNamespace(): string | undefined {
  return ['default', ...namespaceNames.value].find((namespace) => may('jobs.simulate', namespace));
}

const fateTexts: Readonly<Record<Fate['fate'], string>> = {
  moves: 'moves',
  no_room: 'no room elsewhere',
  ends: 'ends with the node',
  finishes: 'finishes there',
  stays: 'still there at the end',
};

const fateColumns: readonly Column<Fate>[] = [
  jobColumn,
  { key: 'allocation', title: 'Allocation', cell: ({ name }) => <Text of={name} /> },
  {
    key: 'fate',
    title: 'What becomes of it',
    cell: ({ fate }) =>
      fate === 'no_room' ? <Mark mark="waiting" word={fateTexts[fate]} /> : <span>{fateTexts[fate]}</span>,
  },
  { key: 'to', title: 'To', cell: ({ fate, to }) => (fate === 'moves' ? <Text of={to} /> : '–') },
  { key: 'after', title: 'After', cell: ({ fate, after }) => (fate === 'stays' ? '–' : afterText(after)) },
];

interface NodeProps {
  readonly id: string;
  readonly name: string;
  /** Nothing can be drained or lost on a node that is away. */
  readonly isReady: boolean;
}

type NodeResult = {
  readonly how: 'drained' | 'lost';
  readonly simulation: Simulation;
  readonly fates: readonly Fate[];
};

/** What would become of what runs on a node. */
export function NodeWhatIf({ id, name, isReady }: NodeProps) {
  const [duration, setDuration] = useState<number>(anHour);
  const [asked, setAsked] = useState('');
  const { played: result, failure, isBusy, run, forget } = useSimulation<NodeResult>();
  useEffect(forget, [id]);
  const namespace = simulatingNamespace();
  if (!isReady || namespace === undefined) return null;
  const simulate = (how: 'drained' | 'lost'): void => {
    setAsked(how);
    const node = how === 'drained' ? { drainNode: id } : { downNode: id };
    const simulated = liveOn(id).andThen((live) =>
      box.jobs
        .simulate({ ...node, namespace, duration })
        .map((simulation) => ({ how, simulation, fates: fatesOf(simulation, live) })),
    );
    void run(simulated);
  };
  const button = (how: 'drained' | 'lost') => (
    <button type="button" disabled={isBusy} onClick={() => simulate(how)}>
      {isBusy && asked === how ? 'Simulating…' : `What if it is ${how}?`}
    </button>
  );
  return (
    <section class="panel stack" aria-label="What if">
      <h2>What if</h2>
      <div class="toolbar">
        {button('drained')}
        {button('lost')}
        <DurationChoice value={duration} change={setDuration} />
      </div>
      <FailureNote of={failure} lead="It cannot be simulated: " />
      {result !== undefined && (
        <>
          <div role="status">
            <h3>
              If <Text of={name} /> were {result.how === 'drained' ? 'drained within an hour' : 'lost'}
            </h3>
            <p>{fatesSentence(result.fates)}</p>
            <Others of={result} />
          </div>
          {result.fates.length > 0 && (
            <DataTable
              name="What becomes of its allocations"
              columns={fateColumns}
              rows={result.fates}
              idOf={({ namespace: of, name: allocation }) => JSON.stringify([of, allocation])}
            />
          )}
          <details>
            <summary>What happens to each job</summary>
            <Details simulation={result.simulation} />
          </details>
          <Basis simulation={result.simulation} />
        </>
      )}
    </section>
  );
}

/** What runs on a node, as far as the caller may see it. */
function liveOn(id: string): ResultAsync<readonly EntryOf<typeof box.allocations.list>[], Failed> {
  if (!may('jobs.read', '*')) return okAsync([]);
  const filter = `NodeID == ${JSON.stringify(id)} and DesiredStatus == "run"`;
  return box.allocations
    .list({ namespace: '*', filter })
    .map(({ value: { items } }) =>
      items.filter(({ ClientStatus }) => ClientStatus === 'running' || ClientStatus === 'pending'),
    );
}

/** Jobs that wait at the end, and jobs of other nodes that are displaced. */
function Others({ of: { simulation, fates } }: { readonly of: NodeResult }) {
  const here = new Set(fates.map(({ namespace, jobId }) => `${namespace}/${jobId}`));
  const waiting = simulation.jobs.filter(({ isWaiting }) => isWaiting).map(({ jobId }) => jobId);
  const displaced = outcomesOf(simulation).filter(
    ({ namespace, jobId, stopped, replaced }) => stopped + replaced > 0 && !here.has(`${namespace}/${jobId}`),
  );
  return (
    <>
      {displaced.length > 0 && (
        <p>
          Jobs of other nodes are displaced: <Text of={displaced.map(({ jobId }) => jobId).join(', ')} />.
        </p>
      )}
      {waiting.length > 0 && (
        <p>
          <Mark mark="waiting" word="Waits for room at the end:" /> <Text of={waiting.join(', ')} />
        </p>
      )}
    </>
  );
}
