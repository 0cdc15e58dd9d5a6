/** The longest turn of the event loop in milliseconds of processor time, until it ends. */
export function watchLoop(): { end(): Promise<number> } {
  let longest = 0;
  let before = process.cpuUsage();
  let ended = false;
  const look = (): void => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
    if (!ended) setImmediate(look);
  };
  setImmediate(look);
  return {
    end: async () => {
      await new Promise(setImmediate);
      ended = true;
      return longest;
    },
  };
}
