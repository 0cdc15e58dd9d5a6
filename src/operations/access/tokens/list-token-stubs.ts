import { errAsync } from 'neverthrow';
import type { MalformedAccessor } from '../../../access/errors.js';
import type { Principal } from '../../../access/principal.js';
import { type StoredToken, type TokenStub, tokenStub, tokens } from '../../../access/tokens.js';
import type { ListQuery, ReadView, Row } from '../../../ports/storage.js';
import { createdPositionOf, createdTokenOf, type Source } from '../../../queries/page.js';
import type { Key } from '../../../shared/table.js';
import type { EngineContext } from '../../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest } from '../../listing/answer-list.js';
import { compileFilter } from '../../listing/filters.js';
import type { MayWait } from '../../waiting/blocking-query.js';
import { malformedAccessor, tokenLookup } from './read-token.js';

/** Selects the tokens of `listTokenStubs`, and whether it waits for a change. */
interface ListTokenStubsInput extends ListRequest, MayWait {}

/**
 * A page of the tokens, without secrets, in order of creation, or with a prefix in order of accessors. Only management callers
 * may do this. Index: that of the tokens.
 */
export function listTokenStubs(
  context: EngineContext,
  _caller: Principal,
  input: ListTokenStubsInput = {},
): ListAnswer<TokenStub, MalformedAccessor> {
  if (!/^[0-9a-f-]*$/i.test(input.prefix ?? '')) return errAsync(malformedAccessor('the prefix of an accessor'));
  const list = {
    key: ['acl_tokens'],
    tables: [tokens],
    source: (view: ReadView) => ((input.prefix ?? '') === '' ? byCreation(view, input) : byAccessor(view, input)),
    filters: compileFilter.token,
    filtered: stubOf,
    show: stubOf,
  };
  return answerList(context, input, list);
}

function stubOf(view: ReadView, row: Row<StoredToken>): TokenStub {
  return tokenStub(row.record, tokenLookup(view, row));
}

const all = (): boolean => true;

function byCreation(view: ReadView, { nextToken = '', reverse = false }: ListRequest): Source<Row<StoredToken>> {
  const first = nextToken === '' ? undefined : createdPositionOf(nextToken);
  return {
    slice: (last, limit) => {
      const behind = last === undefined ? undefined : [last.record.madeAt ?? 0, last.record.accessor];
      return view.list(tokens, { index: 'by_create', ...rangeOf(first, behind, reverse), ...limited(limit) });
    },
    accept: all,
    token: ({ record }) => createdTokenOf({ CreateIndex: record.madeAt ?? 0, ID: record.accessor }),
  };
}

function byAccessor(
  view: ReadView,
  { prefix: textPrefix = '', nextToken = '', reverse = false }: ListRequest,
): Source<Row<StoredToken>> {
  const first = nextToken === '' ? undefined : [nextToken];
  return {
    slice: (last, limit) => {
      const behind = last === undefined ? undefined : [last.record.accessor];
      return view.list(tokens, { textPrefix, ...rangeOf(first, behind, reverse), ...limited(limit) });
    },
    accept: all,
    token: ({ record }) => record.accessor,
  };
}

/** The first key of the page: `[...key, null]` sorts directly after a key. */
function rangeOf(first: Key | undefined, behind: Key | undefined, reverse: boolean): ListQuery {
  if (behind !== undefined) return reverse ? { to: behind, reverse } : { from: [...behind, null] };
  if (first === undefined) return { reverse };
  return reverse ? { to: [...first, null], reverse } : { from: first };
}

function limited(limit: number | undefined): ListQuery {
  return limit === undefined ? {} : { limit };
}
