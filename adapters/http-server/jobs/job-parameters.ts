import { err, ok, type Result } from 'neverthrow';
import type { Waiting } from '../../../src/index.js';
import { type BadInput, badInput, quoted } from '../bad-input.js';
import {
  booleanParameter,
  durationParameter,
  flagParameter,
  integerParameter,
  literalTrueParameter,
  type Parameter,
  type ParameterValues,
  textParameter,
  unsignedParameter,
} from '../query.js';
import type { RouteCall } from '../route.js';

/** What the calls take that concern something in a namespace. */
export const namespaceParameters = { namespace: textParameter('Namespace; `default` when absent') } as const;

/** What every read of the job interface takes. */
export const readParameters = {
  region: textParameter('Region; must be the one of this server'),
  index: unsignedParameter('Wait until the answer is newer than this index', 'Invalid index'),
  wait: durationParameter('How long to wait at most; 5 minutes when absent', 'Invalid wait time'),
  stale: flagParameter('Accepted; every answer of this server is current'),
} as const;

/** What every write takes. */
export const writeParameters = {
  region: textParameter('Region; must be the one of this server'),
} as const;

/** What lists take besides. */
export const pageParameters = {
  prefix: textParameter('Only IDs that begin with this'),
  filter: filterParameter(),
  per_page: integerParameter('Items on a page; everything when 0 or absent'),
  next_token: textParameter('Where the page begins: the header of the page before'),
  reverse: literalTrueParameter('Last first'),
} as const;

/** What an operation takes of the page parameters. */
export function pageFrom(values: ParameterValues<typeof pageParameters>): {
  readonly prefix: string;
  readonly perPage: number;
  readonly nextToken: string;
  readonly reverse: boolean;
} {
  return {
    prefix: values.prefix ?? '',
    perPage: values.per_page ?? 0,
    nextToken: tokenFromQuery(values.next_token) ?? '',
    reverse: values.reverse ?? false,
  };
}

/** A client that sends a filter must not take the whole for what it asked: reads that have none refuse it. */
export function unwantedFilter({ query }: RouteCall): Result<void, BadInput> {
  if (query.isEmpty) return ok(undefined);
  return query.get('filter').andThen((text) => {
    const message = 'failed to create result paginator: this read takes no filter expression';
    return text === undefined || text === ''
      ? ok(undefined)
      : err({ ...badInput('malformed', message), parameter: 'filter' });
  });
}

/** Clients recognise the beginning of the text and ask again without a filter. */
function filterParameter(): Parameter<string> {
  return {
    schema: { type: 'string', maxLength: 0 },
    description: 'Filter expressions are not available: every expression but the empty one is refused',
    parse: (text) =>
      text === ''
        ? ok('')
        : err('failed to create result paginator: filter expressions are not available on this server'),
  };
}

/** Differences are refused rather than left out silently. */
export const diffsParameter: Parameter<boolean> = {
  schema: { const: false },
  description: 'Structured differences are not available: only false is accepted',
  parse: (text, name) =>
    booleanParameter('')
      .parse(text, name)
      .andThen((asked) => (asked ? err('structured differences are not available on this server') : ok(false))),
};

export const allParameter = booleanParameter('Also of an earlier registration under the same ID');

/** How a reader waits, and the cancellation when the client goes away. */
export function waitingFrom(
  values: Pick<ParameterValues<typeof readParameters>, 'index' | 'wait'>,
  call: RouteCall,
): Waiting {
  if (values.index === undefined || values.index === 0) return immediately;
  return {
    after: values.index,
    ...(values.wait === undefined ? {} : { wait: values.wait }),
    whenCancelled: (cancel) => call.request.whenClosed(cancel),
  };
}

const immediately: Waiting = {};

/** There is one region. */
export function checkRegion(region: string | undefined, call: RouteCall): Result<void, BadInput> {
  if (region === undefined || region === '' || region === call.engine.settings.jobs.region) return ok(undefined);
  return err(badInput('wrong_type', 'No path to region: this server does not know ' + quoted(region)));
}

/** Indented when asked: present and not `0`. */
export function isPretty(call: RouteCall): boolean {
  if (call.query.isEmpty) return false;
  const asked = call.query.get('pretty').unwrapOr(undefined);
  return asked !== undefined && asked !== '0';
}

/** The same JSON, indented, with a line end. */
export function prettyJson(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 4) + '\n';
}

/**
 * Tokens travel in a header, which takes visible ASCII only: others are percent-encoded, and so is the percent sign, so
 * that reading one back is certain.
 */
export function headerFromToken(token: string): string {
  return /^[\x21-\x24\x26-\x7e]*$/.test(token) ? token : encodeURIComponent(token);
}

export function tokenFromQuery(text: string | undefined): string | undefined {
  if (text?.includes('%') !== true) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
