import { readFileSync } from 'node:fs';
import { type RunningServer, serve } from '../../../adapters/cli/serve/serve.js';
import type { AcceptedSteps } from './accepted-steps.js';
import { differencesOf, type StepDifference } from './compare-outlines.js';
import { outlinesOf } from './outline.js';
import { type PlayOptions, playTranscript } from './play-transcript.js';
import type { Transcript, Until } from './transcript.js';

/** The recorded transcripts of a file; those of this folder when absent. */
export function recordedTranscripts(file = new URL('exchanges.json', import.meta.url)): readonly Transcript[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as Transcript[]).map(withLaterStates);
}

/**
 * What a step has to wait for on top of the recorded condition. An allocation runs as soon as one of its tasks does; in the recording, which
 * asked once a report of the whole was there, all of them did.
 */
const laterStates: readonly { readonly transcript: string; readonly step: number; readonly until: Until }[] = [
  {
    transcript: 'create-two-groups-running',
    step: 6,
    until: { pointer: '/*/TaskStates/*/State', equals: 'running', count: 5 },
  },
];

function withLaterStates(transcript: Transcript): Transcript {
  const later = laterStates.filter((each) => each.transcript === transcript.name);
  const steps = transcript.steps.map((recorded, at) => {
    const until = later.find(({ step }) => step === at)?.until;
    return until === undefined ? recorded : { ...recorded, until };
  });
  return later.length === 0 ? transcript : { ...transcript, steps };
}

/** An open server in this process, as clients of the upstream use it, with a runner for their tasks. */
export function startServer(): Promise<RunningServer> {
  const options = ['--access', 'open', '--names', 'upstream', '--store', 'memory', '--listen', '127.0.0.1:0'];
  const silent = { out: () => undefined, error: () => undefined, colours: false, environment: process.env };
  return serve(options, { ...silent, read: () => Promise.reject(new Error('nothing is read')) });
}

export interface PlayedTranscript {
  readonly name: string;
  /** Steps that are compared. */
  readonly steps: number;
  /** The steps that are not equal, by their number in the transcript, without the differences that every step may have. */
  readonly different: readonly { readonly step: number; readonly differences: readonly StepDifference[] }[];
  readonly ms: number;
}

export async function compareTranscript(
  origin: string,
  transcript: Transcript,
  options?: PlayOptions,
): Promise<PlayedTranscript> {
  const began = performance.now();
  const played = await playTranscript(origin, transcript, options);
  const recorded = transcript.steps.map(({ answer }) => answer ?? null);
  const found = differencesOf(recorded, outlinesOf(transcript, played));
  const different = found.flatMap((differences, step) => {
    const isRefusal = Number((recorded[step] as { readonly status?: number } | null)?.status) >= 400;
    const refused = isRefusal && differences.every(({ pointer }) => pointer !== '/status');
    const counted = differences.filter((difference) => !isWording(transcript.name, difference, refused));
    return counted.length === 0 ? [] : [{ step, differences: counted }];
  });
  const steps = recorded.filter((answer) => answer !== null).length;
  return { name: transcript.name, steps, different, ms: Math.round(performance.now() - began) };
}

/** Refusals (with the same status), faults of documents and warnings are told in our own words. */
function isWording(name: string, { pointer, ours }: StepDifference, refused: boolean): boolean {
  if (pointer === '/json/Warnings') return true;
  if (name.startsWith('validate') && /^\/json\/(Error$|ValidationErrors)/.test(pointer)) return true;
  return pointer === '/text' && refused && typeof ours === 'string' && ours.trim() !== '';
}

/** The differences that nothing accounts for, and the accepted ones that are not there any more, each in one line. */
function unexpectedIn({ name, different }: PlayedTranscript, acceptable: readonly AcceptedSteps[]): readonly string[] {
  const accepted = acceptable.filter(({ transcript }) => transcript === name);
  const unknown = different.filter(({ step }) => !accepted.some(({ steps }) => steps.includes(step)));
  const certain = accepted.filter(({ sometimes }) => sometimes !== true).flatMap(({ steps }) => steps);
  const gone = certain.filter((step) => different.every((one) => one.step !== step));
  return [
    ...unknown.map(({ step, differences }) => `${name} ${step}: ${JSON.stringify(differences.slice(0, 3))}`),
    ...gone.map((step) => `${name} ${step}: is equal now`),
  ];
}

/** Plays transcripts, so many at a time, and gives what `unexpectedIn` finds in them. */
export async function unexpectedOf(
  origin: string,
  transcripts: readonly Transcript[],
  {
    accepted,
    lanes,
    ...options
  }: PlayOptions & { readonly accepted: readonly AcceptedSteps[]; readonly lanes: number },
): Promise<readonly string[]> {
  const unexpected: string[] = [];
  const queue = [...transcripts];
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      unexpected.push(...unexpectedIn(await compareTranscript(origin, next, options), accepted));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return unexpected;
}
