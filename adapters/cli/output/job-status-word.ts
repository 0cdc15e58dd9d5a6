interface ListedJob {
  readonly Status: string;
  readonly Stop: boolean;
  /** How a dead job ended; absent for periodic and parameterized jobs. */
  readonly Outcome?: string;
}

/** The status of a job in a word: how it ended instead of `dead`. */
export function jobStatusWord({ Status, Stop, Outcome }: ListedJob): string {
  const word = Outcome === undefined || Status !== 'dead' ? Status : Outcome.replaceAll('_', ' ');
  if (!Stop || word === 'stopped') return word;
  return word === 'dead' ? 'stopped' : `${word} (stopped)`;
}
