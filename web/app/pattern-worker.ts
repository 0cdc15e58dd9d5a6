/** Finds the lines that a person's pattern matches, apart from the page: a pattern may take for ever, and is ended from outside. */
addEventListener(
  'message',
  ({ data }: MessageEvent<{ readonly pattern: string; readonly lines: readonly string[] }>) => {
    let pattern: RegExp;
    try {
      pattern = new RegExp(data.pattern, 'i');
    } catch (error) {
      postMessage({ failure: error instanceof Error ? error.message : 'invalid pattern' });
      return;
    }
    const found: number[] = [];
    data.lines.forEach((line, at) => {
      if (pattern.test(line.slice(0, 10_000))) found.push(at);
    });
    postMessage({ found });
  },
);
