/**
 * Recorded answers that we do not give, by kind and id, each with its reason; docs/interfaces/differences.md tells users. The golden
 * tests fail when one of them is equal again.
 */
export const acceptedDifferences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'hcl-expressions': {
    'expr-523': 'the right side of && was evaluated although the left side decides',
  },
  'hcl-jobs': {
    'job-030': 'an infinite number cannot be written as JSON',
    'job-085': 'the shorthands set_contains_any, set_contains_all, is_set and is_not_set are honoured, not read as "="',
    'job-086': 'an affinity weight beyond 8 bits is refused, not wrapped around',
    'job-164': 'names that are unknown are kept in the JSON form, too, instead of garbled',
    'job-246': 'the brace behind an unknown name is not duplicated',
    'job-307': "errors in a group's secret block are reported, not lost",
  },
  'schedule/walks': {
    'walk-010-system': 'a system job gets a deployment for its new version, also after one that has failed',
    'walk-022-system': 'a system job gets a deployment for its new version, also after one that has failed',
    'walk-034-system': 'a system job gets a deployment for its new version, also after one that was cancelled',
    'walk-096-service': 'a failed allocation is not replaced when the others are as many as the group wants',
    'walk-136-system': 'a system job gets a deployment for its new version, also after one that has failed',
  },
  plan: {
    'plan-0052': 'a system job is counted as placed on the nodes that it may run on, and on no other',
  },
  cron: {
    'cron-0263': 'an expression that is not due any more does not silence the ones before it',
    'cron-0418': 'the launch that was found lay in the past, again and again',
    'cron-0435': 'midnight is skipped, and the launch came on the wrong day of the week',
    'cron-0476': 'a quarter of an hour is skipped, and two launches after it were left out',
  },
  validate: {
    'val-0246': 'a job whose kill_signal no system knows could never be stopped by it, so it is refused',
  },
};
