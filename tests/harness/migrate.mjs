// Answers, for each path line, what the strict migration from format v0 to v1 says of that log.
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
import * as format from '@deepseek-ai/dsh-session-format-v0-to-v1'

const collector = events => ({
  emitEvent: event => events.push(event),
  emitRun: run => events.push(...run.expand()),
})

function migrate(path) {
  const [first, ...rows] = readFileSync(path, 'utf8').split('\n').filter(line => line)
  const decoder = format.releasedV0SessionFormatCodec.createDecoder(JSON.parse(first), 'strict')
  const decoded = []
  for (const row of rows) decoder.decodeRow(JSON.parse(row), collector(decoded))
  const inherited = decoder.finish(collector(decoded))
  const header = format.sessionFormatV0ToV1.migrateHeader(decoder.header)
  const stage = format.sessionFormatV0ToV1.createStage({
    sourceHeader: decoder.header,
    targetHeader: header,
    sourceInheritedEventCount: inherited,
    sourceKind: 'decoded',
  })
  const events = []
  for (const event of decoded) stage.transformEvent(event, collector(events))
  for (const event of events) format.assertReleasedEventPayload(event, 1)
  format.assertReleasedArtifactRelationships({ header, inheritedEventCount: inherited, events })
  return events.length
}

for await (const path of createInterface({ input: process.stdin })) {
  let found
  try {
    found = { ok: migrate(path) }
  } catch (error) {
    found = { error: error.name, message: error.message }
  }
  process.stdout.write(JSON.stringify(found) + '\n')
}
