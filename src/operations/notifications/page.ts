import { err, ok, type Result } from 'neverthrow';
import type { InvalidParameter } from '../../notifications/errors.js';

/** A requested page; default: the first page and the default size. Both absent: no paging, if the list allows that. */
export interface PageRequest {
  /** From 1. */
  readonly number?: number | undefined;
  /** From 1; cut to the maximum of the settings. */
  readonly size?: number | undefined;
}

/** The page numbers of an answer without a total. */
export interface PageNumbers {
  /** From 1. */
  readonly currentPage: number;
  /** The most rows of a page. */
  readonly pageSize: number;
  /** Null on the first page. */
  readonly prevPage: number | null;
  /** Null on the last page. */
  readonly nextPage: number | null;
}

/** The numbers for one page of a list; `hasMore`: rows follow after it. */
export function pageNumbers({ number, size }: CheckedPage, hasMore: boolean): PageNumbers {
  return {
    currentPage: number,
    pageSize: size,
    prevPage: number > 1 ? number - 1 : null,
    nextPage: hasMore ? number + 1 : null,
  };
}

/** Positive integers, the size at most the maximum. */
interface CheckedPage {
  readonly number: number;
  readonly size: number;
}

/** The validated page: positive integers, the size cut to the maximum. Null if no page was requested. */
export function readPage(
  rules: { readonly defaultPageSize: number; readonly maximumPageSize: number },
  page: PageRequest | undefined,
): Result<CheckedPage | null, InvalidParameter> {
  const { number, size } = page ?? {};
  if (number === undefined && size === undefined) return ok(null);
  const faulty = number !== undefined && !isCount(number) ? 'page[number]' : 'page[size]';
  if ((number !== undefined && !isCount(number)) || (size !== undefined && !isCount(size))) {
    const message = `${faulty} must be a positive integer`;
    return err({ type: 'invalid_parameter', parameter: faulty, message });
  }
  return ok({ number: number ?? 1, size: Math.min(size ?? rules.defaultPageSize, rules.maximumPageSize) });
}

/** The same for a list that is always paged; default: the first page of the default size. */
export function readPageOrFirst(
  rules: Parameters<typeof readPage>[0],
  page: PageRequest | undefined,
): Result<CheckedPage, InvalidParameter> {
  return readPage(rules, page).map((read) => read ?? { number: 1, size: rules.defaultPageSize });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}
