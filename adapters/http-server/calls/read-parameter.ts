import { ok, type Result } from 'neverthrow';
import type { TextCodec } from '../../../src/api/text-codecs.js';
import type { BadInput } from '../errors/bad-input.js';
import { badParameter } from './query.js';
import type { RouteCall } from './route.js';

/**
 * The value of a query parameter; undefined if absent. For clients of Nomad an empty one counts as absent where
 * no value can be empty.
 */
export function readParameter<T>(
  { query, names }: RouteCall,
  name: string,
  { upstream, ...neutral }: TextCodec<T>,
): Result<T | undefined, BadInput> {
  return query.get(name).andThen((text): Result<T | undefined, BadInput> => {
    if (text === undefined) return ok(undefined);
    const codec = (names.vocabulary === 'upstream' ? upstream : undefined) ?? neutral;
    const value = codec.parse(text, name);
    if (value.isErr() && text === '' && names.vocabulary === 'upstream') return ok(undefined);
    return value.mapErr((message) => badParameter(name, message, codec.status));
  });
}
