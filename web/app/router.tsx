import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { pageUrl } from './settings.js';

/*
 * Addresses are paths below the page, with one segment for each name: a slash within a name is escaped. The address changes when
 * a person acts, never by a late answer.
 */

export interface Place {
  /** Decoded segments of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** Without the hash sign. */
  readonly hash: string;
}

interface Kept {
  /** Where the document was scrolled to when the entry was left. */
  readonly scroll?: number;
  /** The address of the list from which the entry was opened. */
  readonly from?: string;
}

export const place = signal<Place>(placeOf(new URL(location.href)));
/** Counts navigations that a person made; the focus moves to the heading then. */
export const arrivals = signal(0);
/** Where the document is to be scrolled to when the content is there; undefined after it was. */
export const scrollWanted = signal<number | undefined>(undefined);

let guard: (() => boolean) | undefined;

/** Asks before a draft is left. `mayLeave` answers false to stay. */
export function guardLeaving(mayLeave: (() => boolean) | undefined): void {
  guard = mayLeave;
}

function placeOf(url: URL): Place {
  const below = url.pathname.startsWith(pageUrl.pathname) ? url.pathname.slice(pageUrl.pathname.length) : '';
  return {
    path: below
      .split('/')
      .filter((segment) => segment !== '')
      .map(decoded),
    query: url.searchParams,
    hash: decoded(url.hash.slice(1)),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The address of a place, for `href`. */
export function addressOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const search = new URLSearchParams(given).toString();
  return pageUrl.pathname + path.map(encodeURIComponent).join('/') + (search === '' ? '' : `?${search}`);
}

export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = new URL(address, pageUrl);
  if (guard !== undefined && url.pathname !== location.pathname) {
    if (!guard()) return;
    guard = undefined;
  }
  const kept: Kept = { from: location.pathname + location.search };
  if (replace) history.replaceState(history.state, '', url);
  else {
    keepScroll();
    history.pushState(kept, '', url);
  }
  const before = place.value.path.join('/');
  place.value = placeOf(url);
  if (!replace && before !== place.value.path.join('/')) {
    scrollWanted.value = 0;
    arrivals.value += 1;
  }
}

/** Changes the query of the present address, without an entry of the history for each key. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = { ...Object.fromEntries(place.value.query), ...changes };
  navigate(addressOf(place.value.path, query), { replace: true });
}

function keepScroll(): void {
  const kept = (history.state ?? {}) as Kept;
  history.replaceState({ ...kept, scroll: document.documentElement.scrollTop } satisfies Kept, '');
}

addEventListener('popstate', () => {
  if (guard !== undefined && !guard()) {
    history.forward();
    return;
  }
  guard = undefined;
  place.value = placeOf(new URL(location.href));
  scrollWanted.value = ((history.state ?? {}) as Kept).scroll ?? 0;
  arrivals.value += 1;
});
addEventListener('beforeunload', (event) => {
  if (guard !== undefined) event.preventDefault();
});
history.scrollRestoration = 'manual';

export const section = computed(() => place.value.path[0] ?? '');

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly onClick?: () => void;
  readonly 'aria-current'?: 'page';
  readonly 'aria-label'?: string;
  readonly 'data-row-link'?: boolean;
  readonly children: ComponentChildren;
}

/** A link within the page. Modified clicks open another tab as usual. */
export function Link({ to, children, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onClick?.();
    navigate(to);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
