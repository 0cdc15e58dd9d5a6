/** The spellings of the headers that the job interface adds, and of the token headers it reads. */
export interface HeaderNames {
  readonly index: string;
  readonly lastContact: string;
  readonly knownLeader: string;
  readonly nextToken: string;
}

export type Vocabulary = 'seed' | 'upstream';

const families: Readonly<Record<Vocabulary, HeaderNames>> = {
  seed: family('X-SVC'),
  upstream: family('X-Nomad'),
};

/** Both families are accepted in requests; answers carry the one that is asked for here. */
export function headerNamesFor(vocabulary: Vocabulary): HeaderNames {
  return families[vocabulary];
}

/** Request headers that carry a token, in the order they are looked at. */
export const tokenHeaders: readonly string[] = ['x-svc-token', 'x-nomad-token'];

function family(prefix: string): HeaderNames {
  return {
    index: prefix + '-Index',
    lastContact: prefix + '-LastContact',
    knownLeader: prefix + '-KnownLeader',
    nextToken: prefix + '-NextToken',
  };
}
