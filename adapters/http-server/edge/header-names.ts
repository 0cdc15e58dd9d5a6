/** The forms of the headers that the job interface adds, and of the token headers it reads. */
export interface HeaderNames {
  readonly vocabulary: Vocabulary;
  readonly index: string;
  readonly lastContact: string;
  readonly knownLeader: string;
  readonly nextToken: string;
  /** Of requests; the other form is read, too. */
  readonly token: string;
}

/** Spellings of the interface: its own, or those of the clients that exist for it. */
export type Vocabulary = 'neutral' | 'upstream';

const families: Readonly<Record<Vocabulary, HeaderNames>> = {
  neutral: family('neutral', 'X-SVC'),
  upstream: family('upstream', 'X-Nomad'),
};

/** Both families are accepted in requests; answers use the configured one. */
export function headerNamesFor(vocabulary: Vocabulary): HeaderNames {
  return families[vocabulary];
}

/** Request headers that carry a token, in the order they are considered. */
export const tokenHeaders: readonly string[] = ['x-svc-token', 'x-nomad-token'];

function family(vocabulary: Vocabulary, prefix: string): HeaderNames {
  return {
    vocabulary,
    index: prefix + '-Index',
    lastContact: prefix + '-LastContact',
    knownLeader: prefix + '-KnownLeader',
    nextToken: prefix + '-NextToken',
    token: prefix + '-Token',
  };
}
