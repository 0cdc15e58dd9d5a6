import { err, ok } from 'neverthrow';
import { quoted } from '../bad-input.js';
import type { Parameter } from '../query.js';
import type { RouteCall } from '../route.js';
import { splitTarget } from '../target.js';

/** A whole number from 1. */
function countParameter(description: string): Parameter<number> {
  return {
    schema: { type: 'integer', minimum: 1 },
    description,
    parse: (text, name) => {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
      return value >= 1 ? ok(value) : err(`${name} must be a whole number from 1, not ${quoted(text)}`);
    },
  };
}

export const pageParameters = {
  'page[number]': countParameter('Page, from 1'),
  'page[size]': countParameter('Items on a page; 20 when absent, at most 100'),
} as const;

/** The page that the parameters ask for; members that are absent stay absent. */
export function pageFrom(values: {
  readonly 'page[number]': number | undefined;
  readonly 'page[size]': number | undefined;
}): { readonly number?: number; readonly size?: number } {
  const number = values['page[number]'];
  const size = values['page[size]'];
  return { ...(number === undefined ? {} : { number }), ...(size === undefined ? {} : { size }) };
}

export interface PagePlace {
  readonly currentPage: number;
  readonly pageSize: number;
  readonly prevPage: number | null;
  readonly nextPage: number | null;
  /** Null when the total is not known. */
  readonly lastPage: number | null;
}

/** The absolute links of a page; `further` are the query parameters to keep. */
export function pageLinks(
  call: RouteCall,
  place: PagePlace,
  further: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string | null>> {
  const { publicOrigin } = call.engine.settings.notifications;
  const path = publicOrigin + splitTarget(call.request.target).path;
  const kept = Object.entries(further)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`&${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
    )
    .join('');
  const link = (page: number | null): string | null =>
    page === null ? null : `${path}?page%5Bnumber%5D=${page}&page%5Bsize%5D=${place.pageSize}${kept}`;
  return {
    self: link(place.currentPage),
    first: link(1),
    prev: link(place.prevPage),
    next: link(place.nextPage),
    ...(place.lastPage === null ? {} : { last: link(place.lastPage) }),
  };
}
