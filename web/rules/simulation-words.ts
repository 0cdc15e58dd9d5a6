import { counted, durationText } from './durations.js';

/*
 * A simulation as people read it. Its lines name an allocation by its name, which system jobs use on each of their nodes, so a
 * node that is left is said only if it is certain.
 */

interface Line {
  /** RFC 3339. */
  readonly at: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly jobId?: string;
  readonly subject: string;
  readonly text: string;
}

interface EndOfJob {
  readonly namespace: string;
  readonly jobId: string;
  readonly running: number;
  readonly starting: number;
  readonly isWaiting: boolean;
}

interface Simulation {
  readonly from: string;
  readonly until: string;
  readonly playedUntil: string;
  readonly timeline: readonly Line[];
  readonly isCut: boolean;
  readonly jobs: readonly EndOfJob[];
}

interface OfJob {
  readonly namespace: string;
  readonly jobId: string;
}

/** An allocation that is placed, that stops, or both: it moves or is replaced. */
export interface Move extends OfJob {
  /** Name of the allocation. */
  readonly name: string;
  /** Milliseconds from the start of the simulation. */
  readonly after: number;
  /** Name of the node that is left; empty for a new allocation, and where it is not certain. */
  readonly from: string;
  /** Name of the node, empty if the caller may not see it; undefined if nothing is placed. */
  readonly to: string | undefined;
  /** Why the previous one stops; empty for a new allocation. */
  readonly why: string;
}

const reasons: Readonly<Record<string, string>> = {
  'alloc not needed due to job update': 'not needed any more',
  'alloc is lost since its node is down': 'its node is lost',
  'alloc is unknown since its node is disconnected': 'its node is away',
  'alloc is being migrated': 'its node is drained',
  'alloc is being updated due to job update': 'replaced by the new version',
  'alloc was rescheduled because it failed': 'it failed',
  'alloc not needed due to disconnected client reconnect': 'its node came back',
  'alloc not needed as node is tainted': 'its node takes no system jobs now',
};

function reasonText(text: string): string {
  return /^Preempted by/.test(text) ? 'makes room for another job' : (reasons[text] ?? text);
}

const placed = /^placed(?: on (.*))?$/s;
const ended = /^is (?:complete|failed|lost|unknown)(?: on (.*))?$/s;
const other = /^is (?:pending|running|healthy|not healthy)(?: on .*)?$/s;

interface Traces extends OfJob {
  readonly name: string;
  readonly stops: { readonly at: string; readonly why: string }[];
  readonly places: { readonly at: string; readonly node: string }[];
  /** Names of the nodes on which it ended. */
  readonly ends: string[];
}

/** What is placed and what stops, in the order in which it happens. */
export function movesOf({ from, timeline }: Pick<Simulation, 'from' | 'timeline'>): readonly Move[] {
  const start = Date.parse(from);
  const all = new Map<string, Traces>();
  for (const { kind, namespace, jobId, subject, at, text } of timeline) {
    if (kind !== 'allocation' || namespace === undefined || jobId === undefined) continue;
    const key = JSON.stringify([namespace, jobId, subject]);
    const traces = all.get(key) ?? { namespace, jobId, name: subject, stops: [], places: [], ends: [] };
    all.set(key, traces);
    const place = placed.exec(text);
    const end = ended.exec(text);
    if (place !== null) traces.places.push({ at, node: place[1] ?? '' });
    else if (end !== null) traces.ends.push(end[1] ?? '');
    else if (!other.test(text)) traces.stops.push({ at, why: reasonText(text) });
  }
  return [...all.values()]
    .flatMap(({ namespace, jobId, name, stops, places, ends }): readonly Move[] => {
      const one = { namespace, jobId, name };
      const isPaired = stops.length === places.length;
      const left = stops.length === 1 ? (ends[0] ?? '') : '';
      const starts = places.map(({ at, node }, number) => ({
        ...{ ...one, after: Date.parse(at) - start, to: node },
        ...(isPaired ? { from: left, why: stops[number]?.why ?? '' } : { from: '', why: '' }),
      }));
      const rest = isPaired ? [] : stops;
      return [
        ...starts,
        ...rest.map(({ at, why }) => ({ ...one, after: Date.parse(at) - start, from: left, to: undefined, why })),
      ];
    })
    .sort((a, b) => a.after - b.after);
}

/** The group of an allocation's name, which ends with `.GROUP[INDEX]`. */
export function isOfGroup(name: string, group: string): boolean {
  return name.slice(0, name.lastIndexOf('[')).endsWith(`.${group}`);
}

/** Where allocations are placed: `2 on n-1, 1 on n-2`; only the count if the nodes may not be seen. */
export function placesText(moves: readonly Pick<Move, 'to'>[]): string {
  const counts = new Map<string, number>();
  for (const { to } of moves) if (to !== undefined) counts.set(to, (counts.get(to) ?? 0) + 1);
  return [...counts].map(([node, count]) => (node === '' ? String(count) : `${count} on ${node}`)).join(', ');
}

/** What happens to one job. Counts are allocations. */
export interface JobOutcome extends EndOfJob {
  readonly placed: number;
  /** Placed instead of one that stops. */
  readonly replaced: number;
  readonly stopped: number;
}

/** What happens to each job, the one that is simulated first. */
export function outcomesOf({ jobs, ...simulation }: Simulation, own?: OfJob): readonly JobOutcome[] {
  const moves = movesOf(simulation);
  const isOwn = (each: OfJob): boolean => each.namespace === own?.namespace && each.jobId === own.jobId;
  return [...jobs]
    .sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
    .map((job) => {
      const of = moves.filter(({ namespace, jobId }) => namespace === job.namespace && jobId === job.jobId);
      return {
        ...job,
        placed: of.filter(({ to, why }) => to !== undefined && why === '').length,
        replaced: of.filter(({ to, why }) => to !== undefined && why !== '').length,
        stopped: of.filter(({ to }) => to === undefined).length,
      };
    });
}

/** What a job is expected to have at the end. */
interface Wanted extends OfJob {
  /** Allocations of a service; undefined for jobs that end or launch others. */
  readonly count: number | undefined;
}

/** What a registration does, as sentences. */
export function registrationSentences(simulation: Simulation, wanted: Wanted): readonly string[] {
  const own = movesOf(simulation).filter(
    ({ namespace, jobId }) => namespace === wanted.namespace && jobId === wanted.jobId,
  );
  const added = own.filter(({ to, why }) => to !== undefined && why === '');
  const replaced = own.filter(({ to, why }) => to !== undefined && why !== '');
  const stopped = own.filter(({ to }) => to === undefined);
  const end = simulation.jobs.find((each) => each.namespace === wanted.namespace && each.jobId === wanted.jobId);
  const missing = wanted.count === undefined || end === undefined ? 0 : wanted.count - end.running - end.starting;
  const elsewhere = outcomesOf(simulation, wanted).filter(
    ({ namespace, jobId }) => namespace !== wanted.namespace || jobId !== wanted.jobId,
  );
  const displaced = elsewhere.filter(({ stopped: count, replaced: moved }) => count + moved > 0);
  const waiting = elsewhere.filter(({ isWaiting }) => isWaiting);
  const sentences = [
    ...(added.length > 0 ? [`Places ${counted(added.length, 'allocation')}: ${placesText(added)}.`] : []),
    ...(replaced.length > 0 ? [`Replaces ${counted(replaced.length, 'allocation')}: ${placesText(replaced)}.`] : []),
    ...(stopped.length > 0 ? [`Stops ${counted(stopped.length, 'allocation')}.`] : []),
  ];
  return [
    ...(sentences.length === 0 ? ['Places and stops nothing.'] : sentences),
    ...(missing > 0
      ? [
          `${missing} of the ${counted(wanted.count ?? 0, 'allocation')} that are wanted ${missing === 1 ? 'does' : 'do'} not run at the end${end?.isWaiting === true ? ': there is no room' : ''}.`,
        ]
      : end?.isWaiting === true
        ? ['At the end it still waits for room.']
        : []),
    ...displaced.map(
      ({ jobId, stopped: count, replaced: moved }) =>
        `Of ${jobId}, ${counted(count + moved, 'allocation')} ${count + moved === 1 ? 'stops' : 'stop'}${moved > 0 ? `, ${moved} of them placed again` : ''}.`,
    ),
    ...(waiting.length > 0
      ? [`At the end work of ${waiting.map(({ jobId }) => jobId).join(', ')} waits for room.`]
      : []),
  ];
}

/** Whether a change of a group that waits for room would help, and how. */
export function verdictOf(
  simulation: Simulation,
  wanted: Wanted,
  group: string,
): { readonly helps: boolean; readonly sentences: readonly string[] } {
  const isOwn = ({ namespace, jobId }: OfJob): boolean => namespace === wanted.namespace && jobId === wanted.jobId;
  const moves = movesOf(simulation);
  const ofGroup = moves.filter((move) => isOwn(move) && isOfGroup(move.name, group));
  const added = ofGroup.filter(({ to, why }) => to !== undefined && why === '');
  const replaced = ofGroup.filter(({ to, why }) => to !== undefined && why !== '');
  const end = simulation.jobs.find(isOwn);
  const isShort =
    end?.isWaiting === true ||
    (wanted.count !== undefined && wanted.count > (end?.running ?? 0) + (end?.starting ?? 0));
  const displaced = outcomesOf(simulation).filter((each) => !isOwn(each) && each.stopped + each.replaced > 0);
  const first =
    added.length > 0
      ? `Would place ${placesText(added)}${isShort ? '; others of the job would still wait.' : '.'}`
      : isShort
        ? 'It would not help: nothing more of the group would be placed.'
        : 'Nothing would wait any more: what is wanted runs already.';
  return {
    helps: added.length > 0 || !isShort,
    sentences: [
      first,
      ...(replaced.length > 0
        ? [`${counted(replaced.length, 'running allocation')} would be replaced: ${placesText(replaced)}.`]
        : []),
      ...(displaced.length > 0
        ? [`Other jobs would be displaced: ${displaced.map(({ jobId }) => jobId).join(', ')}.`]
        : []),
    ],
  };
}

interface NodeAllocation {
  readonly Namespace: string;
  readonly JobID: string;
  readonly Name: string;
  readonly JobType: string;
}

/** What becomes of an allocation of a node that is drained or lost. */
export interface Fate extends OfJob {
  readonly name: string;
  readonly fate: 'moves' | 'no_room' | 'ends' | 'finishes' | 'stays';
  /** Name of the node to which it moves; empty if the caller may not see it. */
  readonly to: string;
  /** Milliseconds from the start of the simulation. */
  readonly after: number;
}

/** What becomes of each allocation of a node. */
export function fatesOf(simulation: Simulation, allocations: readonly NodeAllocation[]): readonly Fate[] {
  const moves = new Map(movesOf(simulation).map((move) => [keyOf(move), move]));
  const done = new Map(
    simulation.timeline.flatMap(({ namespace = '', jobId = '', subject, text, at }) =>
      /^is complete\b/.test(text) ? [[keyOf({ namespace, jobId, name: subject }), at] as const] : [],
    ),
  );
  return allocations.map(({ Namespace, JobID, Name, JobType }) => {
    const one = { namespace: Namespace, jobId: JobID, name: Name };
    const move = moves.get(keyOf(one));
    const at = done.get(keyOf(one));
    if (move === undefined)
      return at === undefined
        ? { ...one, fate: 'stays', to: '', after: 0 }
        : { ...one, fate: 'finishes', to: '', after: Date.parse(at) - Date.parse(simulation.from) };
    if (JobType === 'system' || JobType === 'sysbatch') return { ...one, fate: 'ends', to: '', after: move.after };
    return { ...one, fate: move.to === undefined ? 'no_room' : 'moves', to: move.to ?? '', after: move.after };
  });
}

function keyOf({ namespace, jobId, name }: OfJob & { readonly name: string }): string {
  return JSON.stringify([namespace, jobId, name]);
}

/** The fate of all allocations of a node, as a sentence. */
export function fatesSentence(fates: readonly Fate[]): string {
  const of = (fate: Fate['fate']): number => fates.filter((each) => each.fate === fate).length;
  const words: Readonly<Record<Fate['fate'], readonly [one: string, several: string]>> = {
    moves: ['moves to another node', 'move to other nodes'],
    no_room: ['stops and has no room elsewhere', 'stop and have no room elsewhere'],
    ends: ['of a system job ends with the node', 'of system jobs end with the node'],
    finishes: ['finishes there', 'finish there'],
    stays: ['is still there at the end', 'are still there at the end'],
  };
  const parts = Object.entries(words).flatMap(([fate, [one, several]]) => {
    const count = fates.filter((each) => each.fate === fate).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  if (parts.length === 0) return 'Nothing that you may see runs on it.';
  return `Of ${counted(fates.length, 'allocation')} ${parts.join(', ')}.${of('no_room') === 0 ? ' All that can move have room.' : ''}`;
}

/** What is missing in a result; empty if nothing is. */
export function cutText({ from, until, playedUntil, isCut, timeline }: Simulation): string {
  if (!isCut) return '';
  if (Date.parse(playedUntil) < Date.parse(until))
    return `It was played for ${durationText(Date.parse(playedUntil) - Date.parse(from))} only: more would take too long. What happens later is missing.`;
  return `Only the first ${counted(timeline.length, 'line')} of the timeline ${timeline.length === 1 ? 'is' : 'are'} listed; what happens later is missing, but the counts at the end are whole.`;
}
