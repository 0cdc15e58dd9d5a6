import { err, ok, type Result } from 'neverthrow';
import { decodePathText } from '../edge/target.js';
import type { BadInput } from '../errors/bad-input.js';
import type { Route } from './route.js';

/** A route that clients know and this server does not provide. */
export interface AbsentRoute {
  readonly methods: readonly string[];
  readonly path: string;
}

/** The routes of one path, by method. */
interface Place {
  readonly path: string;
  readonly routes: readonly Route[];
  /** Methods that clients of this path use and no route takes. */
  readonly absent: readonly string[];
}

/** What a path leads to. */
export type Match =
  | { readonly type: 'found'; readonly route: Route; readonly pathValues: readonly string[] }
  | { readonly type: 'wrong_method'; readonly allowed: readonly string[] }
  | { readonly type: 'not_provided'; readonly path: string }
  | { readonly type: 'unknown_path' };

export type Router = (method: string, path: string) => Result<Match, BadInput>;

/** A segment of a path pattern: a name, or a parameter. */
interface Branch {
  readonly named: Map<string, Branch>;
  parameter: Branch | undefined;
  place: Place | undefined;
}

interface SuffixPlace extends Place {
  readonly suffix: string;
  /** Segments of a suffix that has a parameter of its own; then the first parameter takes exactly one segment. */
  readonly segments: readonly string[] | undefined;
}

/** What a router is made of. */
export interface RouterParts {
  readonly routes: readonly Route[];
  /** Routes that clients know; those that `routes` has are served by it. */
  readonly known: readonly AbsentRoute[];
  /** Beginnings of paths whose first parameter may hold slashes. */
  readonly openPrefixes: readonly string[];
}

/** Suffixes behind the first parameter of an open prefix, by their last segment. */
interface OpenPlaces {
  readonly prefix: string;
  readonly suffixes: Map<string, SuffixPlace>;
}

/**
 * A router over the table. Paths without parameters are looked up whole. Below an open prefix the first parameter takes
 * everything up to the longest known suffix, slashes included, and is decoded before it is matched, so that a job id
 * with slashes works both escaped and raw (job interface, routing). All other paths are matched segment by segment.
 */
export function createRouter({ routes, known, openPrefixes }: RouterParts): Router {
  const whole = new Map<string, Place>();
  const open: readonly OpenPlaces[] = openPrefixes.map((prefix) => ({ prefix, suffixes: new Map() }));
  const root: Branch = emptyBranch();
  for (const place of placesOf(routes, known)) {
    const { path } = place;
    const below = open.find(({ prefix }) => path.startsWith(prefix + '{'));
    if (!path.includes('{')) whole.set(path, place);
    else if (below === undefined) plant(root, path.split('/'), place);
    else {
      const suffix = path.slice(path.indexOf('}') + 1);
      const segments = suffix.includes('{') ? suffix.split('/').slice(1) : undefined;
      below.suffixes.set(lastSegment(suffix), { ...place, suffix, segments });
    }
  }

  return (method, path) => {
    const exact = whole.get(path);
    if (exact !== undefined) return ok(choose(exact, method, noValues));
    for (const { prefix, suffixes } of open) {
      if (!path.startsWith(prefix)) continue;
      const rest = decodePathText(path.slice(prefix.length));
      return rest.map((text) => matchSuffix(suffixes, method, text));
    }
    return matchSegments(root, method, path);
  };
}

const noValues: readonly string[] = Object.freeze([]);

function placesOf(routes: readonly Route[], known: readonly AbsentRoute[]): Iterable<Place> {
  const places = new Map<string, { path: string; routes: Route[]; absent: string[] }>();
  const at = (path: string) => {
    const place = places.get(path) ?? { path, routes: [], absent: [] };
    places.set(path, place);
    return place;
  };
  for (const route of routes) at(route.path).routes.push(route);
  for (const { path, methods } of known) at(path).absent.push(...methods);
  return places.values();
}

function choose(place: Place, method: string, pathValues: readonly string[]): Match {
  for (const route of place.routes) {
    if (route.anyMethod === true || route.methods.some((candidate) => candidate === method)) {
      return { type: 'found', route, pathValues };
    }
  }
  if (place.routes.length === 0 || place.absent.includes(method)) return { type: 'not_provided', path: place.path };
  return { type: 'wrong_method', allowed: [...new Set(place.routes.flatMap((route) => route.methods))] };
}

function matchSuffix(suffixes: ReadonlyMap<string, SuffixPlace>, method: string, rest: string): Match {
  const slash = rest.lastIndexOf('/');
  if (slash >= 0) {
    const place = suffixes.get(rest.slice(slash + 1));
    if (place?.segments !== undefined) return matchWhole(place, place.segments, method, rest);
    // The suffix may not be the whole rest: `/v1/job/plan` is the job "plan".
    if (place !== undefined && place.suffix !== '' && rest.endsWith(place.suffix)) {
      return choose(place, method, [rest.slice(0, rest.length - place.suffix.length)]);
    }
  }
  const plain = suffixes.get('');
  return plain === undefined ? { type: 'unknown_path' } : choose(plain, method, [rest]);
}

function matchWhole(place: Place, segments: readonly string[], method: string, rest: string): Match {
  const [first = '', ...others] = rest.split('/');
  const fits =
    others.length === segments.length && segments.every((part, i) => part.startsWith('{') || part === others[i]);
  if (!fits) return { type: 'unknown_path' };
  return choose(place, method, [first, ...others.filter((_value, i) => segments[i]?.startsWith('{') === true)]);
}

function matchSegments(root: Branch, method: string, path: string): Result<Match, BadInput> {
  const segments = path.split('/');
  const values: string[] = [];
  let branch: Branch = root;
  for (const segment of segments) {
    const named = branch.named.get(segment);
    if (named !== undefined) {
      branch = named;
    } else if (branch.parameter !== undefined && segment !== '') {
      const value = decodePathText(segment);
      if (value.isErr()) return err(value.error);
      values.push(value.value);
      branch = branch.parameter;
    } else {
      return ok({ type: 'unknown_path' });
    }
  }
  return ok(branch.place === undefined ? { type: 'unknown_path' } : choose(branch.place, method, values));
}

function plant(root: Branch, segments: readonly string[], place: Place): void {
  let branch = root;
  for (const segment of segments) {
    if (segment.startsWith('{')) {
      branch.parameter ??= emptyBranch();
      branch = branch.parameter;
      continue;
    }
    let named = branch.named.get(segment);
    if (named === undefined) {
      named = emptyBranch();
      branch.named.set(segment, named);
    }
    branch = named;
  }
  branch.place = place;
}

function emptyBranch(): Branch {
  return { named: new Map(), parameter: undefined, place: undefined };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
