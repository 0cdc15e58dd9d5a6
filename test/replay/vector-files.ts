import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { PlayContext, PlayerModule, Vector } from './player.js';

/** Every vector file of a folder and its subfolders by name without ending, in order; `.json` and `.json.gz` are read. */
export function vectorFiles(folder: string, ending = ENDING): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => path.split(sep).join('/').replace(ENDING, ''));
  return [...new Set(names)].sort();
}

const ENDING = /\.json(?:\.gz)?$/;

export function readVectorFile(folder: string, file: string): unknown {
  const plain = join(folder, `${file}.json`);
  const text = existsSync(plain) ? readFileSync(plain) : gunzipSync(readFileSync(`${plain}.gz`));
  return JSON.parse(text.toString('utf8'));
}

/** The records of a file: a list, or the `stories` or `cases` of an object that tells more about them. */
export function readVectors(folder: string, file: string): readonly Vector[] {
  const contents = readVectorFile(folder, file) as readonly Vector[] | Readonly<Record<string, readonly Vector[]>>;
  const vectors = 'stories' in contents ? contents.stories : 'cases' in contents ? contents.cases : contents;
  if (!Array.isArray(vectors)) throw new Error(`${file} holds neither a list nor stories nor cases`);
  return vectors;
}

/** The name of the player: the first part of the file's path, so `schedule/nodes` is played by `schedule`. */
export function kindOf(file: string): string {
  return file.split('/')[0] ?? file;
}

/**
 * The player of a file: that of its kind, or, when the folder of a kind is played alone, that of the folder's name. Stories are known by
 * what they hold, as their files may be named like other kinds.
 */
export async function playerOfFile(folder: string, file: string): Promise<PlayerModule | undefined> {
  const [first] = file.includes('/') ? [] : readVectors(folder, file);
  if (first !== undefined && 'nodes' in first && ('steps' in first || 'existing' in first)) return playerOf('schedule');
  return (await playerOf(kindOf(file))) ?? (await playerOf(basename(resolve(folder))));
}

/** Files that only others read. */
export const companions: ReadonlySet<string> = new Set(['bexpr-sets']);

/** The player of a kind, undefined when nobody has written it. */
export async function playerOf(kind: string): Promise<PlayerModule | undefined> {
  const url = new URL(`./${kind}.ts`, import.meta.url);
  return existsSync(url) ? ((await import(url.href)) as PlayerModule) : undefined;
}

export interface Outcome {
  readonly file: string;
  readonly played: number;
  /** The records whose answer differs: id and first difference. */
  readonly different: readonly { readonly id: string; readonly difference: string }[];
}

/** Plays every record of a file, one after the other. What a player throws is a difference. */
export async function playFile(folder: string, file: string, player: PlayerModule): Promise<Outcome> {
  const vectors = readVectors(folder, file);
  const context: PlayContext = { file, companion: companionsOf(folder) };
  const different: { id: string; difference: string }[] = [];
  for (const vector of vectors) {
    const difference = await play(player, vector, context);
    if (difference !== undefined) different.push({ id: vector.id, difference });
  }
  return { file, played: vectors.length, different };
}

async function play(player: PlayerModule, vector: Vector, context: PlayContext): Promise<string | undefined> {
  try {
    return await player.play(vector, context);
  } catch (error) {
    return `thrown: ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ') : String(error)}`;
  }
}

function companionsOf(folder: string): PlayContext['companion'] {
  const read = new Map<string, unknown>();
  return (file) => {
    if (!read.has(file)) read.set(file, readVectorFile(folder, file));
    return read.get(file);
  };
}
