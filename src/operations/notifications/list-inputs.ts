import { err, ok, type Result } from 'neverthrow';
import type { InvalidParameter } from '../../notifications/errors.js';
import { eventTypes } from '../../notifications/events/event-type.js';
import { triggerDefinitions, triggerFromSpelling } from '../../notifications/events/trigger.js';
import type { ReadView } from '../../ports/storage.js';

/** Which page; absent members mean the first page and the default size. Both absent means no paging, where that is possible. */
export interface PageRequest {
  /** From 1. */
  readonly pageNumber?: number | undefined;
  /** From 1; larger values are reduced to the maximum of the settings. */
  readonly pageSize?: number | undefined;
}

/** The page numbers of a list whose rows are not counted. */
export interface PageNumbers {
  /** From 1. */
  readonly currentPage: number;
  /** The most rows of a page. */
  readonly pageSize: number;
  /** Null on the first page. */
  readonly prevPage: number | null;
  /** Null when there is nothing further. */
  readonly nextPage: number | null;
}

/** The numbers of one page of a list; `hasMore`: whether rows follow it. */
export function pageNumbers({ number, size }: CheckedPage, hasMore: boolean): PageNumbers {
  return {
    currentPage: number,
    pageSize: size,
    prevPage: number > 1 ? number - 1 : null,
    nextPage: hasMore ? number + 1 : null,
  };
}

/** Whole numbers from 1; the size is at most the maximum. */
interface CheckedPage {
  readonly number: number;
  readonly size: number;
}

/** The requested page, checked, with the size reduced to the maximum. Null when none was requested. */
export function readPage(
  rules: { readonly defaultPageSize: number; readonly maximumPageSize: number },
  { pageNumber: number, pageSize: size }: PageRequest,
): Result<CheckedPage | null, InvalidParameter> {
  if (number === undefined && size === undefined) return ok(null);
  const faulty = number !== undefined && !isCount(number) ? 'page[number]' : 'page[size]';
  if ((number !== undefined && !isCount(number)) || (size !== undefined && !isCount(size))) {
    const message = `${faulty} must be a whole number from 1`;
    return err({ type: 'invalid_parameter', parameter: faulty, message });
  }
  return ok({ number: number ?? 1, size: Math.min(size ?? rules.defaultPageSize, rules.maximumPageSize) });
}

/** The same for a list that is always paged: by default the first page of the default size. */
export function readPageOrFirst(
  rules: Parameters<typeof readPage>[0],
  page: PageRequest,
): Result<CheckedPage, InvalidParameter> {
  return readPage(rules, page).map((read) => read ?? { number: 1, size: rules.defaultPageSize });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/**
 * The canonical trigger or event type that a filter names; null when it names none. An impossible name is refused instead of
 * matching nothing.
 */
export function readTriggerFilter(
  view: ReadView,
  parameter: string,
  asked: unknown,
): Result<string | null, InvalidParameter> {
  if (asked === undefined) return ok(null);
  const known = typeof asked === 'string' ? (triggerFromSpelling(asked)?.value ?? ownType(view, asked)) : undefined;
  if (known !== undefined) return ok(known);
  const triggers = triggerDefinitions.map(({ value }) => value).join(', ');
  const message = `The trigger must be an event type, or one of ${triggers}`;
  return err({ type: 'invalid_parameter', parameter, message });
}

/** The log has the application's event types by name, even if they are no longer registered. */
function ownType(view: ReadView, name: string): string | undefined {
  return /^[\w-]+(\.[\w-]+)+$/.test(name) || view.get(eventTypes, [name]) !== undefined ? name : undefined;
}
