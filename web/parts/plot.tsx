interface PlotProps {
  /** What is plotted, with its unit. */
  readonly name: string;
  readonly counts: readonly number[];
  /** Drawn above the counts in the colour of failures; parts of the same slots. */
  readonly failed?: readonly number[];
  /** What is said beside the name, such as the sum. */
  readonly sum: string;
}

/** The most bars of a plot: further slots are added up. */
const mostBars = 120;

/** Counts over time as bars; the numbers are in a table below it. */
export function Plot({ name, counts, failed = [], sum }: PlotProps) {
  const width = Math.max(1, Math.ceil(counts.length / mostBars));
  const bars = summed(counts, width);
  const bad = summed(failed, width);
  const most = Math.max(1, ...bars.map((count, at) => count + (bad[at] ?? 0)));
  return (
    <figure>
      <figcaption>
        {name} <small>{sum}</small>
      </figcaption>
      <svg
        class="plot"
        viewBox={`0 0 ${bars.length} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${sum}`}
      >
        <title>{`${name}: ${sum}`}</title>
        {bars.map((count, at) => {
          const failures = bad[at] ?? 0;
          const height = (40 * count) / most;
          const above = (40 * failures) / most;
          return (
            <g key={at}>
              {count > 0 && <rect x={at} y={40 - height} width={0.8} height={height} />}
              {failures > 0 && <rect class="failed" x={at} y={40 - height - above} width={0.8} height={above} />}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

function summed(counts: readonly number[], width: number): readonly number[] {
  const bars: number[] = [];
  counts.forEach((count, at) => {
    const bar = Math.floor(at / width);
    bars[bar] = (bars[bar] ?? 0) + count;
  });
  return bars;
}
