/**
 * Recorded answers that we do not give, by kind and id, each with its reason; docs/interfaces/differences.md tells users. The golden
 * tests fail when one of them is equal again.
 */
export const acceptedDifferences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cron: {
    'cron-0263': 'an expression that is not due any more does not silence the ones before it',
    'cron-0418': 'the launch that was found lay in the past, again and again',
    'cron-0435': 'midnight is skipped, and the launch came on the wrong day of the week',
    'cron-0476': 'a quarter of an hour is skipped, and two launches after it were left out',
  },
};
