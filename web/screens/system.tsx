import { box } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { mayInArea } from '../app/rights.js';
import { place, setQuery } from '../app/router.js';
import { settings } from '../app/settings.js';
import { Screen } from '../app/shell.js';
import { Choice } from '../parts/form.js';
import { Mark } from '../parts/marks.js';
import { Plot } from '../parts/plot.js';
import { Text } from '../parts/text.js';
import { View } from '../parts/view.js';

/** The server and what it measures. */
export function SystemScreen() {
  const ready = useRead('ready', { every: 10_000, read: ({ signal }) => box.system.ready({ signal }) });
  return (
    <Screen title="System">
      <section class="panel">
        <h2>Server</h2>
        <p>
          Signalbox <Text of={settings.version} />
        </p>
        <View reading={ready} what="the state of the server">
          {({ ok, message }) => (
            <p>
              <Mark mark={ok ? 'good' : 'failed'} word={ok ? 'ready' : 'not ready'} /> <Text of={message} />
            </p>
          )}
        </View>
      </section>
      {mayInArea('agent', 'read') && <Measurements />}
    </Screen>
  );
}

const titles: Readonly<Record<string, string>> = {
  'http.server.request.duration': 'Requests',
  'signalbox.evaluation.duration': 'Evaluations',
  'signalbox.evaluations': 'Evaluations by status',
  'signalbox.allocations': 'Allocations',
  'signalbox.deployments': 'Deployments',
  'signalbox.job.starts': 'Instances started',
  'signalbox.loop.failures': 'Failures of loops',
  'signalbox.function.runs': 'Runs of functions',
  'signalbox.function.attempt.lag': 'Wait for the first attempt',
  'signalbox.function.attempt.duration': 'Attempts of functions',
  'signalbox.notification.events': 'Events',
  'signalbox.notification.deliveries': 'Deliveries',
  'signalbox.notification.attempts': 'Requests to destinations',
  'signalbox.notification.attempt.duration': 'Duration of requests to destinations',
  'signalbox.notification.attempt.lag': 'Wait for the first request',
  'signalbox.notification.verifications': 'Verifications',
  'signalbox.notification.breaker.changes': 'Changes of breakers',
};

function Measurements() {
  const range = place.value.query.get('range') === 'day' ? 'day' : 'hour';
  const series = useRead(`series:${range}`, {
    every: range === 'hour' ? 10_000 : 60_000,
    read: ({ signal }) => box.system.series({ range, signal }),
  });
  return (
    <section class="panel">
      <h2>Measured by this process</h2>
      <div class="toolbar">
        <Choice
          label="Time"
          value={range}
          change={(chosen) => setQuery({ range: chosen })}
          options={[
            ['hour', 'the last hour'],
            ['day', 'the last day'],
          ]}
        />
      </div>
      <View
        reading={series}
        what="the measurements"
        needs="read on agents"
        isEmpty={({ series: all }) => all.length === 0}
        empty={<p>Nothing has been measured yet.</p>}
      >
        {({ series: all }) => (
          <>
            <div class="columns">
              {all.map(({ name, labels, counts, p95, unit }) => {
                const label = Object.values(labels).join(', ');
                return (
                  <Plot
                    key={name + label}
                    name={`${titles[name] ?? name}${label === '' ? '' : `: ${label.replaceAll('_', ' ')}`}`}
                    counts={counts}
                    sum={sumText(counts, p95, unit)}
                  />
                );
              })}
            </div>
            <details>
              <summary>As a table</summary>
              <div class="scroll">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">What</th>
                      <th scope="col">Labels</th>
                      <th scope="col">Sum</th>
                    </tr>
                  </thead>
                  <tbody>
                    {all.map(({ name, labels, counts, p95, unit }) => (
                      <tr key={name + JSON.stringify(labels)}>
                        <td>{titles[name] ?? name}</td>
                        <td>
                          {Object.entries(labels)
                            .map((pair) => pair.join(' '))
                            .join(', ')}
                        </td>
                        <td>{sumText(counts, p95, unit)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </details>
          </>
        )}
      </View>
    </section>
  );
}

function sumText(counts: readonly number[], p95: readonly number[] | undefined, unit: string): string {
  const sum = counts.reduce((total, count) => total + count, 0);
  const slowest = Math.max(0, ...(p95 ?? []));
  return `${sum.toLocaleString('en')}${slowest > 0 ? `, 95 % within ${slowest.toPrecision(2)} ${unit} in the slowest slot` : ''}`;
}
