import type { FuzzyMatches } from '../../queries/search/fuzzy-search.js';
import type { PrefixMatches } from '../../queries/search/prefix-search.js';
import { anyCaller, inNamespace } from '../access.js';
import { type AnswerForm, inlinedMetadata } from '../answers.js';
import { write } from '../call.js';
import { inBody, withDefault } from '../inputs.js';
import { jsonText, namedSchema } from '../json-codecs.js';

interface Matches {
  readonly Matches: object;
  readonly Truncations: object;
  readonly index: number;
}

function matches<T extends Matches>(): AnswerForm<T, T> {
  return {
    schema: namedSchema('SearchMatches'),
    status: 200,
    toClient: (value) => value,
    toWire: ({ Matches, Truncations, index }) =>
      JSON.stringify({ ...inlinedMetadata, KnownLeader: true, Matches, Truncations, Index: index }),
    indexOf: ({ index }) => index,
  };
}

const context = withDefault(inBody('Context', jsonText), '');
const everyRight = inNamespace('list-jobs', 'read-job');

/** Searches over names and IDs. */
export const searchCalls = {
  /** Finds objects by a prefix, at most 20 of each context. */
  prefix: write({
    path: '/v1/search',
    access: everyRight,
    summary: 'Finds objects by a prefix, at most 20 of each context',
    args: ['prefix', 'context'],
    inputs: { prefix: withDefault(inBody('Prefix', jsonText), ''), context },
    errors: ['search_refused'],
    answer: matches<PrefixMatches & { readonly index: number }>(),
    leaderHeaders: 'known',
    judgesWaiting: true,
  }),

  /** Finds objects whose name contains a string, including groups, tasks and services inside jobs. */
  fuzzy: write({
    path: '/v1/search/fuzzy',
    access: anyCaller,
    summary: 'Finds objects whose name contains a string, including groups, tasks and services inside jobs',
    args: ['text', 'context'],
    inputs: { text: withDefault(inBody('Text', jsonText), ''), context },
    errors: ['search_refused'],
    answer: matches<FuzzyMatches & { readonly index: number }>(),
    leaderHeaders: 'known',
    judgesWaiting: true,
  }),
} as const;
