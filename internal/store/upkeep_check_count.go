package store

// countQueries return rows whose counters differ from what they count.
var countQueries = []string{
	`SELECT 'subscription_counter ' || c.partner_id, 'says that ' || c.active || ' have not ended; there are ' ||
	coalesce(n.active, 0)
	FROM subscription_counter c LEFT JOIN (
		SELECT partner_id, count(*) AS active FROM subscription WHERE ended_at = 0
		GROUP BY partner_id) n ON n.partner_id = c.partner_id
	WHERE c.active <> coalesce(n.active, 0) ORDER BY 1`,
	`SELECT 'subscription_counter ' || n.partner_id, 'says that the last number is ' || coalesce(c.last, 0) ||
	'; there is a ' || n.last
	FROM (SELECT partner_id, max(seq) AS last FROM subscription GROUP BY partner_id) n
	LEFT JOIN subscription_counter c ON c.partner_id = n.partner_id WHERE n.last > coalesce(c.last, 0) ORDER BY 1`,
	`SELECT 'subscription_block ' || coalesce(b.partner_id, n.partner_id) || ' block ' || coalesce(b.block, n.block),
		'says that ' || coalesce(b.active, 0) || ' have not ended; there are ' || coalesce(n.active, 0)
	FROM subscription_block b FULL JOIN (
		SELECT partner_id, seq / 4096 AS block, count(*) AS active FROM subscription
		WHERE ended_at = 0 GROUP BY partner_id, seq / 4096) n
		ON n.partner_id = b.partner_id AND n.block = b.block
	WHERE coalesce(b.active, 0) <> coalesce(n.active, 0) ORDER BY 1`,
	`SELECT 'subscription_expiry ' || coalesce(b.partner_id, n.partner_id) || ' block ' || coalesce(b.block, n.block) ||
			' day ' || coalesce(b.expiry_day, n.expiry_day),
		'says that ' || coalesce(b.active, 0) || ' have not ended; there are ' || coalesce(n.active, 0)
	FROM subscription_expiry b FULL JOIN (
		SELECT partner_id, seq / 4096 AS block, expiry_day, count(*) AS active FROM subscription
		WHERE ended_at = 0 AND expiry_day > 0 GROUP BY partner_id, seq / 4096, expiry_day) n
		ON n.partner_id = b.partner_id AND n.block = b.block AND n.expiry_day = b.expiry_day
	WHERE coalesce(b.active, 0) <> coalesce(n.active, 0) ORDER BY 1`,
}

// numberedEvents are the numbers of events that are there, or were erased with their person since the oldest that is
// there.
const numberedEvents = `(SELECT partner_id, seq FROM event UNION SELECT g.partner_id, g.seq FROM event_gap g
	WHERE g.seq > (SELECT min(o.seq) FROM event o WHERE o.partner_id = g.partner_id))`

// eventQueries return gaps and strays in the events of a partner.
var eventQueries = []string{
	`SELECT 'event ' || partner_id, 'numbers ' || (before + 1) || ' to ' || (seq - 1) || ' are missing' FROM (
		SELECT partner_id, seq, lag(seq) OVER (PARTITION BY partner_id ORDER BY seq) AS before
		FROM ` + numberedEvents + ` e) g
	WHERE seq > before + 1 ORDER BY 1`,
	`SELECT 'event_counter ' || e.partner_id, 'says that the last number is ' || coalesce(c.last, 0) ||
	'; the last event is ' || e.last
	FROM (SELECT partner_id, max(seq) AS last FROM ` + numberedEvents + ` n GROUP BY partner_id) e
	LEFT JOIN event_counter c ON c.partner_id = e.partner_id WHERE e.last <> coalesce(c.last, 0) ORDER BY 1`,
	`SELECT 'delivery ' || d.partner_id || '/' || d.endpoint_id || '/' || d.seq, 'its event ' || d.event_id ||
	' is not there'
	FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM event e
	WHERE e.partner_id = d.partner_id AND e.seq = d.seq AND e.id = d.event_id)
	ORDER BY 1 LIMIT 1000`,
	`SELECT 'attempt ' || a.partner_id || '/' || a.endpoint_id || '/' || a.seq, 'its delivery is not there'
	FROM attempt a WHERE NOT EXISTS (SELECT 1 FROM delivery d
	WHERE d.partner_id = a.partner_id AND d.endpoint_id = a.endpoint_id
		AND d.seq = a.seq) ORDER BY 1 LIMIT 1000`,
}

// caseQueries return cases whose parts contradict each other.
var caseQueries = []string{
	`SELECT 'support_case ' || c.id, 'is ' || c.status || '; its last move left it ' || coalesce(m.to_status, 'nowhere')
	FROM support_case c LEFT JOIN case_move m ON m.partner_id = c.partner_id AND m.case_id = c.id AND m.number = (
		SELECT max(l.number) FROM case_move l WHERE l.partner_id = c.partner_id AND l.case_id = c.id)
	WHERE m.to_status IS NULL OR m.to_status <> c.status ORDER BY 1 LIMIT 1000`,
	`SELECT 'case_move ' || case_id, 'has ' || count(*) || ' moves up to number ' || max(number) FROM case_move
	GROUP BY partner_id, case_id HAVING count(*) <> max(number) ORDER BY 1 LIMIT 1000`,
}
