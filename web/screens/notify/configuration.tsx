import { useState } from 'preact/hooks';
import { box } from '../../app/engine.js';
import { useRead, useRefresh } from '../../app/read.js';
import { Link } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { type Fact, Facts } from '../../parts/form.js';
import { Id, Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { durationText } from '../../rules/durations.js';
import { kindNames } from '../../rules/notification-words.js';
import { ConfigurationActions, type Outcome, OutcomePanel, ResponseFacts, TestForm } from './actions.js';
import { Triggers } from './configurations.js';
import { DeliveryList } from './deliveries.js';
import { ConfigurationForm } from './form.js';
import { type Configuration, Health, type Room, RoomScreen, roomAddress } from './room.js';

interface ConfigurationScreenProps {
  readonly room: Room;
  readonly id: string;
  readonly isEditing: boolean;
}

/** One configuration; waits for changes. */
export function useConfiguration(id: string) {
  return useRead(`configuration:${id}`, { waits: true, read: (how) => box.notifications.show(id, how) });
}

export function ConfigurationScreen({ room, id, isEditing }: ConfigurationScreenProps) {
  const configuration = useConfiguration(id);
  const [outcome, show] = useState<Outcome | undefined>(undefined);
  const known = configuration.state.value.value;
  useRefresh(configuration, known !== undefined && (known.health.paused || known.health.breaker !== 'closed'));
  const name = known?.name ?? id;
  return (
    <RoomScreen
      room={room}
      title={isEditing ? `Edit ${name}` : name}
      beside={
        known !== undefined &&
        !isEditing && (
          <>
            <Health of={known} />
            <span class="room" />
            <ConfigurationActions room={room} configuration={known} refresh={configuration.refresh} show={show} />
          </>
        )
      }
    >
      <View
        reading={configuration}
        what="the configuration"
        needs="admin or portal on the workspace"
        gone={<Link to={roomAddress(room)}>The configurations of the workspace</Link>}
      >
        {(value) =>
          value.workspaceId !== room.workspace ? (
            <div class="state">
              <p>This workspace has no such configuration.</p>
            </div>
          ) : isEditing ? (
            <ConfigurationForm room={room} configuration={value} />
          ) : (
            <>
              <OutcomePanel outcome={outcome} />
              <ConfigurationFacts configuration={value} />
              <TestForm room={room} configuration={value} show={show} />
              <h2>Deliveries</h2>
              <DeliveryList room={room} configuration={value} />
            </>
          )
        }
      </View>
    </RoomScreen>
  );
}

function ConfigurationFacts({ configuration }: { readonly configuration: Configuration }) {
  const { id, kind, url, users, response, delivery, createdAt, updatedAt } = configuration;
  return (
    <div class="panel columns">
      <Facts
        of={[
          ['Kind', kindNames[kind]],
          [
            'Sends to',
            <Text
              of={
                kind === 'email'
                  ? users.join(', ') || 'no recipients'
                  : (url ?? 'unreadable: the key that encrypted it is missing')
              }
            />,
          ],
          ['Triggers', <Triggers of={configuration} />],
          delivery?.filter != null && [
            'Filter',
            <code>
              <Text of={delivery.filter} />
            </code>,
          ],
          ['ID', <Id of={id} what="the configuration's ID" />],
        ]}
      />
      <Facts
        of={[
          [
            'Verified',
            response === null ? (
              <span class="secondary">{kind === 'email' ? 'by a test mail only' : 'never'}</span>
            ) : (
              <>
                {response.successful ? 'accepted' : 'refused'} <Time at={response.sentAt} />
                <ResponseFacts response={response} />
              </>
            ),
          ],
          ...(delivery === null ? [] : optionFacts(delivery)),
          ['Created', <Time at={createdAt} />],
          ['Changed', <Time at={updatedAt} />],
        ]}
      />
    </div>
  );
}

function optionFacts(delivery: NonNullable<Configuration['delivery']>): readonly (Fact | false)[] {
  const { rate, timeout, concurrency, headerNames, authentication, clientCertificate } = delivery;
  return [
    rate !== null && ['Rate', rate === 0 ? 'unlimited' : `${rate} a second`],
    timeout !== null && ['Timeout', durationText(timeout)],
    concurrency !== null && ['At a time', concurrency],
    headerNames.length > 0 && ['Extra headers', <Text of={headerNames.join(', ')} />],
    authentication !== null && ['Authentication', authentication],
    clientCertificate && ['Client certificate', 'set'],
  ];
}
