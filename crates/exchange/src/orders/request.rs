//! The requests of dealers, factories and suppliers, as they are sent.

use super::order::Line;
use crate::audited::{write_form, write_get};

/// One request of a district.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    New { customer: u32, lines: Vec<Line> },
    Change { customer: u32, order: u64, lines: Vec<Line> },
    Cancel { customer: u32, order: u64 },
    Order { customer: u32, order: u64 },
    Customer { customer: u32 },
    Plan { assembly: u32, quantity: u32 },
    Schedule { work_order: u64 },
    Advance { work_order: u64, state: u8 },
    Purchases { supplier: u32, suppliers: u32 },
    Deliver { purchase: u64 },
}

impl Request {
    /// Appends the request as HTTP.
    pub(super) fn write(&self, host: &str, out: &mut Vec<u8>) {
        let form = match self {
            Request::New { customer, lines } => format!("customer={customer}&lines={}", join(lines)),
            Request::Change { customer, order, lines } => {
                format!("customer={customer}&order={order}&lines={}", join(lines))
            }
            Request::Cancel { customer, order } => format!("customer={customer}&order={order}"),
            Request::Plan { assembly, quantity } => format!("assembly={assembly}&quantity={quantity}"),
            Request::Schedule { work_order } => format!("work_order={work_order}"),
            Request::Advance { work_order, state } => format!("work_order={work_order}&state={state}"),
            Request::Deliver { purchase } => format!("purchase={purchase}"),
            Request::Order { customer, order } => {
                let target = format!("/orders/order?customer={customer}&order={order}");
                return write_get(&target, host, "", out);
            }
            Request::Customer { customer } => {
                return write_get(&format!("/orders/customer?customer={customer}"), host, "", out);
            }
            Request::Purchases { supplier, suppliers } => {
                let target = format!("/orders/purchases?supplier={supplier}&of={suppliers}");
                return write_get(&target, host, "", out);
            }
        };
        write_form(&format!("/orders/{}", self.name()), host, "", &form, out);
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Request::New { .. } => "new",
            Request::Change { .. } => "change",
            Request::Cancel { .. } => "cancel",
            Request::Order { .. } => "order",
            Request::Customer { .. } => "customer",
            Request::Plan { .. } => "plan",
            Request::Schedule { .. } => "schedule",
            Request::Advance { .. } => "advance",
            Request::Purchases { .. } => "purchases",
            Request::Deliver { .. } => "deliver",
        }
    }
}

/// Lines as a field of a form, such as `12:3,80:10`.
fn join(lines: &[Line]) -> String {
    let pair = |line: &Line| format!("{}:{}", line.assembly, line.quantity);
    lines.iter().map(pair).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_forms_and_targets_of_the_definition() {
        let text = |request: Request| {
            let mut out = Vec::new();
            request.write("h", &mut out);
            String::from_utf8(out).unwrap()
        };
        let lines = vec![Line { assembly: 12, quantity: 3 }, Line { assembly: 80, quantity: 10 }];
        assert_eq!(
            text(Request::Change { customer: 4, order: 9, lines }),
            "POST /orders/change HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: 35\r\n\r\ncustomer=4&order=9&lines=12:3,80:10"
        );
        assert_eq!(
            text(Request::Purchases { supplier: 1, suppliers: 4 }),
            "GET /orders/purchases?supplier=1&of=4 HTTP/1.1\r\nHost: h\r\n\r\n"
        );
    }
}
