/** Finds the lines that a person's pattern matches, apart from the page: a pattern may take for ever, and is ended from outside. */
addEventListener(
  'message',
  ({ data }: MessageEvent<{ readonly pattern: string; readonly lines: readonly string[] }>) => {
    let pattern: RegExp;
    try {
      pattern = new RegExp(data.pattern, 'i');
    } catch (error) {
      // Some engines begin with these words, others say only what is wrong.
      const reason = (error instanceof Error ? error.message : '').replace(/^Invalid regular expression: /, '');
      postMessage({ failure: `Not a regular expression: ${reason}` });
      return;
    }
    const found: number[] = [];
    data.lines.forEach((line, at) => {
      if (pattern.test(line.slice(0, 10_000))) found.push(at);
    });
    postMessage({ found });
  },
);
