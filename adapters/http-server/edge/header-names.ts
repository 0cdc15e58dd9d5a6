/** Names of the headers that the job interface adds, and of the token headers that it reads. */
export interface HeaderNames {
  readonly vocabulary: Vocabulary;
  readonly index: string;
  readonly lastContact: string;
  readonly knownLeader: string;
  readonly nextToken: string;
  /** The token header of requests; the one of the other vocabulary is accepted, too. */
  readonly token: string;
}

/** Header names and messages: Signalbox's own (`neutral`), or those of Nomad and HCP Terraform (`upstream`). */
export type Vocabulary = 'neutral' | 'upstream';

const families: Readonly<Record<Vocabulary, HeaderNames>> = {
  neutral: family('neutral', 'X-SVC'),
  upstream: family('upstream', 'X-Nomad'),
};

/** Both sets are accepted in requests; answers use the configured one. */
export function headerNamesFor(vocabulary: Vocabulary): HeaderNames {
  return families[vocabulary];
}

/** Request headers that carry a token, in order of precedence. */
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
