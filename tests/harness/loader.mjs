// Answers, for each request line {root, sid, compression, ops}, what the published Harness packages answer.
// One request at a time, a fresh context each, so that nothing is remembered from one file to the next.
import { createInterface } from 'node:readline'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@deepseek-ai/dsh-session'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'

const failure = error => ({ error: error?.name ?? typeof error, message: String(error?.message ?? error) })

async function attempt(run) {
  try {
    return { ok: await run() }
  } catch (error) {
    return failure(error)
  }
}

function summary(events) {
  return { events: events.length, last: events.at(-1)?.type }
}

async function answer({ root, sid, compression, ops }) {
  const context = new Context()
  await context.plugin(SessionStore)
  await context.plugin(JsonlSessionPersistence, { root, compression })
  const store = context.get('sessionPersistence')
  const operations = {
    list: async () => (await store.list()).map(header => header.id),
    inspect: async () => summary((await store.inspect(sid)).events),
    readFrom0: async () => (await store.readFrom(sid, 0)).events.length,
    load: async () => summary((await store.load(sid)).events),
  }
  const found = {}
  for (const name of ops) found[name] = await attempt(operations[name])
  return found
}

for await (const line of createInterface({ input: process.stdin })) {
  const found = await answer(JSON.parse(line)).catch(error => ({ failed: failure(error) }))
  process.stdout.write(JSON.stringify(found) + '\n')
}
process.exit(0)
