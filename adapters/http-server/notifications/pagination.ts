import type { Pagination } from '../../../src/index.js';
import type { RouteCall } from '../calls/route.js';
import { splitTarget } from '../edge/target.js';

interface PageNumbers {
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
  numbers: PageNumbers,
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
    page === null ? null : `${path}?page%5Bnumber%5D=${page}&page%5Bsize%5D=${numbers.pageSize}${kept}`;
  return {
    self: link(numbers.currentPage),
    first: link(1),
    prev: link(numbers.prevPage),
    next: link(numbers.nextPage),
    ...(numbers.lastPage === null ? {} : { last: link(numbers.lastPage) }),
  };
}

/** The numbers of a page under their JSON:API names. */
export function pageMember(numbers: Omit<PageNumbers, 'lastPage'>): object {
  return {
    'current-page': numbers.currentPage,
    'page-size': numbers.pageSize,
    'prev-page': numbers.prevPage,
    'next-page': numbers.nextPage,
  };
}

/** The same with the totals of the list. */
export function paginationMember(pagination: Pagination): object {
  return {
    ...pageMember(pagination),
    'total-pages': pagination.totalPages,
    'total-count': pagination.totalCount,
  };
}
